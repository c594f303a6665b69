import { AsyncLocalStorage } from 'node:async_hooks';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TieredLimiter } from '../../src/redis.ts';
import { RedisServer } from '../support/redis.ts';
import { REMOTES } from '../support/remotes.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

/** A program over the built package; `skewMs` is how far its clocks are off. */
async function program(body: string, skewMs = 0): Promise<string> {
  const text = `
    const skew = ${skewMs};
    const { now } = Date;
    Date.now = () => now() + skew;
    const { hrtime } = process;
    const skewed = (...args) => {
      const [seconds, nanoseconds] = hrtime(...args);
      return [seconds + skew / 1000, nanoseconds];
    };
    process.hrtime = Object.assign(skewed, { bigint: () => hrtime.bigint() });
    const { Redis } = await import('ioredis');
    const { RedisSlidingWindowLimiter, TieredLimiter } = await import('./dist/redis.js');
    const redis = new Redis(${server.port});
    const policy = { name: 'programs', limit: 10, windowMs: 3_600_000, deadlineMs: 20_000 };
    const limiter = new RedisSlidingWindowLimiter({ ...policy, redis });
    ${body}`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', text], {
    cwd: root,
  });
  return stdout;
}

describe('processes', () => {
  it('share a limit exactly, with clocks a day apart', async () => {
    const body = `
      let allowed = 0;
      for (let i = 0; i < 10; i++) allowed += (await limiter.tryAcquire('ann')).allowed ? 1 : 0;
      console.log(allowed);
      redis.disconnect();`;
    const dayMs = 86_400_000;
    const counts = await Promise.all([0, dayMs, 3 * dayMs].map((skew) => program(body, skew)));
    expect(counts.map(Number).reduce((sum, count) => sum + count)).toBe(10);
  });

  it('end by themselves once the client is closed: nothing of ours holds them', async () => {
    const body = `
      const tiered = new TieredLimiter({ remote: limiter, onFailure: 'open' });
      await tiered.tryAcquire('bob');
      redis.disconnect();
      const start = performance.now();
      process.on('exit', () => console.log(Math.round(performance.now() - start)));`;
    expect(Number(await program(body))).toBeLessThan(10_000);
  });
});

it("needs ioredis for its types only: the client is the caller's", () => {
  const files = ['redis', 'tiered'].flatMap((folder) =>
    readdirSync(join(root, 'dist', folder)).map((name) => join(root, 'dist', folder, name)),
  );
  const scripts = [join(root, 'dist', 'redis.js'), ...files.filter((name) => name.endsWith('.js'))];
  expect(scripts.length).toBeGreaterThan(10);
  for (const name of scripts) expect(readFileSync(name, 'utf8')).not.toMatch(/from ['"]ioredis/);
});

describe('memory', () => {
  it('keeps nothing of the requests that calls were made in', async () => {
    const redis = server.client();
    const [, make] = REMOTES[0];
    const policy = { name: 'memory', limit: 1_000_000, windowMs: 3_600_000, deadlineMs: 3_600_000 };
    const remote = make({ ...policy, redis });
    const limiter = new TieredLimiter({ remote, onFailure: 'closed' });
    const storage = new AsyncLocalStorage<object>();
    let collected = 0;
    const registry = new FinalizationRegistry(() => collected++);
    for (let round = 0; round < 20; round++) {
      const calls = Array.from({ length: 100 }, (_, i) => {
        const request = { body: new Array(1_000).fill(i) };
        registry.register(request, undefined);
        return storage.run(request, () => limiter.tryAcquire(`user ${i}`));
      });
      await Promise.all(calls);
    }
    await until(
      async () => {
        globalThis.gc?.();
        await new Promise((done) => setTimeout(done, 10));
        // What the last round has left on the stack may be there still.
        return collected >= 1_900;
      },
      { what: 'collecting 1,900 of 2,000 requests' },
    ).catch((error) => {
      throw new Error(`${error.message}: ${collected}`);
    });
  });

  it('leaves no listener and no handle of 1,000 limiters on one client', async () => {
    const redis = server.client();
    await redis.ping();
    const listeners = redis.eventNames().map((name) => redis.listenerCount(name));
    for (let i = 0; i < 1_000; i++) {
      const policy = { name: `many ${i}`, limit: 5, windowMs: 60_000, deadlineMs: 5_000 };
      const limiter = (REMOTES[i % 4] as (typeof REMOTES)[0])[1]({ ...policy, redis });
      if (i % 50 === 0) await limiter.tryAcquire('ann');
      await limiter.close();
    }
    expect(redis.eventNames().map((name) => redis.listenerCount(name))).toEqual(listeners);
  });
});
