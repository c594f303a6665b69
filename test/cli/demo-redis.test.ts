import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisServer } from '../support/redis.ts';
import { Command } from './command.ts';

const LOGIN = '/api/login?client=crowd';

interface Body {
  readonly source: string;
}

describe('the demo with --redis', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  async function login(url: string): Promise<{ status: number; source: string }> {
    const response = await fetch(url + LOGIN, { method: 'POST' });
    return { status: response.status, source: ((await response.json()) as Body).source };
  }

  it('shares each limit between several demos, and outlives Redis', async () => {
    const args = ['demo', '--redis', `redis://127.0.0.1:${server.port}`];
    const demos = [new Command(args, { PORT: '0' }), new Command(args, { PORT: '0' })];
    try {
      const urls = await Promise.all(demos.map((demo) => demo.url()));
      const answers = [];
      for (let i = 0; i < 8; i++) answers.push(await login(urls[i % 2] as string));
      expect(answers.map(({ status }) => status)).toEqual([...Array(5).fill(200), 429, 429, 429]);
      expect(new Set(answers.slice(0, 6).map(({ source }) => source))).toEqual(new Set(['redis']));
      await server.stop();
      // Known from before, for as long as Redis named.
      expect((await login(urls[0] as string)).status).toBe(429);
      const other = await fetch(`${urls[0]}/api/login?client=late`, { method: 'POST' });
      expect(other.status).toBe(200);
      expect(((await other.json()) as Body).source).toBe('fallback');
    } finally {
      await Promise.all(demos.map((demo) => demo.stop()));
    }
  });

  it.each([
    [['--redis', 'localhost'], 'must be an address like redis://'],
    [['--redis', 'redis://localhost', '--workers', '2'], 'do not go together'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await new Command(['demo', ...args]).ended;
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
