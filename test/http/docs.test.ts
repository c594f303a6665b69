import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformWithEsbuild } from 'vite';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { ask, statuses } from './support/client.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = readFileSync(join(root, 'docs', 'http.md'), 'utf8');
// Inside the repository, where 'sluicegate/express' is this package.
mkdirSync(join(root, 'build'), { recursive: true });
const folder = mkdtempSync(join(root, 'build', 'docs-'));
let child: ChildProcess | undefined;

afterEach(() => child?.kill());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The first program under a heading. */
function program(heading: string, language = 'js'): string {
  const section = text.split(new RegExp(`^#+ ${heading}$`, 'm'))[1] ?? '';
  const code = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(section)?.[1];
  if (code === undefined) throw new Error(`no program under ${heading}`);
  return code;
}

// Programs say port 3000; the tests run them on a free one.
const PRELOAD = `
import net from 'node:net';
const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (first, ...rest) {
  const here = typeof first === 'object' ? { ...first, host: '127.0.0.1', port: 0 } : first === 3000 ? 0 : first;
  this.once('listening', () => process.send(this.address().port));
  return listen.call(this, here, ...rest);
};
`;

/** Runs a program as it is; gives the port that it listens on. */
function run(code: string): Promise<number> {
  const preload = join(folder, 'preload.mjs');
  const file = join(folder, 'program.mjs');
  writeFileSync(preload, PRELOAD);
  writeFileSync(file, code);
  child = fork(file, { execArgv: ['--import', pathToFileURL(preload).href], cwd: root });
  return new Promise((resolve, reject) => {
    child?.once('message', (port) => resolve(Number(port)));
    child?.once('exit', (exit) => reject(new Error(`the program ended with ${exit}`)));
  });
}

function lines(code: string): number {
  return code.split('\n').filter((line) => line.trim() !== '').length;
}

async function hasLimit(port: number, limit: number, path = '/', method = 'GET'): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { headers } = await ask(port, path, { method, agent });
  expect(headers['ratelimit-policy']).toMatch(new RegExp(`;q=${limit};w=60$`));
  // The tokens of a busy second or two may flow back meanwhile.
  const seen = await statuses(port, limit + 10, path, { method, agent });
  agent.destroy();
  expect(seen.slice(0, limit - 1).every((status) => status === 200)).toBe(true);
  expect(seen).toContain(429);
}

describe('docs/http.md', () => {
  it.each(['Express', 'Fastify', 'Koa', 'Hono', "Node's own http"])(
    'limits with the program for %s, in under ten lines',
    async (heading) => {
      const code = program(heading);
      expect(lines(code)).toBeLessThan(10);
      const port = await run(code);
      await hasLimit(port, 100);
      if (heading === 'Fastify') await hasLimit(port, 5, '/login', 'POST');
    },
  );

  it('limits with the table of endpoints', async () => {
    const port = await run(program('Limits per endpoint'));
    await hasLimit(port, 5, '/login', 'POST');
    await hasLimit(port, 100);
  });

  it('limits with the handler from Request to Response', async () => {
    const code = program('Request in, Response out');
    expect(lines(code)).toBeLessThan(10);
    const file = join(folder, 'handler.mjs');
    writeFileSync(file, code);
    const { GET } = await import(/* @vite-ignore */ pathToFileURL(file).href);
    const from = (address: string) =>
      GET(new Request('http://a/', { headers: { 'x-forwarded-for': `6.6.6.6, ${address}` } }));
    const answers = await Promise.all(Array.from({ length: 110 }, () => from('203.0.113.1')));
    expect(answers[0]?.headers.get('ratelimit-policy')).toBe('"default";q=100;w=60');
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(100);
    expect(answers.at(-1)?.status).toBe(429);
    expect((await from('203.0.113.2')).status).toBe(200);
  });

  it('limits with the module and the controller for Nest', async () => {
    const code = `
      import 'reflect-metadata';
      import { Controller, Get, Module } from '@nestjs/common';
      import { NestFactory } from '@nestjs/core';
      import { RateLimit, RateLimitModule } from 'sluicegate/nest';
      ${program('Nest', 'ts')}
      const app = await NestFactory.create(AppModule, { logger: false });
      await app.listen(3000);`;
    const tsconfigRaw = { compilerOptions: { experimentalDecorators: true } };
    const compiled = await transformWithEsbuild(code, 'nest.ts', { tsconfigRaw, target: 'es2022' });
    await hasLimit(await run(compiled.code), 100);
  });

  it('limits methods with the decorator, standard and legacy', async () => {
    for (const experimentalDecorators of [false, true]) {
      const code = `
        import { RateLimit } from 'sluicegate/decorator';
        ${program('Methods', 'ts')}
        export const accounts = new Accounts();`;
      const tsconfigRaw = { compilerOptions: { experimentalDecorators } };
      const { code: js } = await transformWithEsbuild(code, 'm.ts', {
        tsconfigRaw,
        target: 'es2022',
      });
      const file = join(folder, `methods-${experimentalDecorators}.mjs`);
      writeFileSync(file, js);
      const { accounts } = await import(/* @vite-ignore */ pathToFileURL(file).href);
      for (let i = 0; i < 5; i++) accounts.login('ann', 'x');
      expect(() => accounts.login('ann', 'x')).toThrow(/over the limit "login"/);
      expect(() => accounts.login('bob', 'x')).not.toThrow();
    }
  });
});
