import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const temp = mkdtempSync(join(tmpdir(), 'sluicegate-package-'));
const consumer = join(temp, 'consumer');
const installed = join(consumer, 'node_modules', 'sluicegate');

const PROGRAM = `
const clock = new ManualClock();
const limiter = new TokenBucketLimiter({ capacity: 2, refillPerSecond: 1, clock: clock.now });
const taken = [1, 2, 3].map(() => limiter.tryAcquire('ann').allowed);
clock.advance(1000);
taken.push(limiter.tryAcquire('ann').allowed);
console.log(JSON.stringify(taken));
`;
const PROGRAM_PRINTS = '[true,true,false,true]\n';
const IMPORTS = `
import { TokenBucketLimiter } from 'sluicegate';
import { ManualClock } from 'sluicegate/testing';
`;
const REQUIRES = `
const { TokenBucketLimiter } = require('sluicegate');
const { ManualClock } = require('sluicegate/testing');
`;

function node(args: string[], cwd = consumer): string {
  return execFileSync(process.execPath, args, { cwd, encoding: 'utf8' });
}

function npm(args: string[], cwd: string): void {
  const cli = process.env.npm_execpath;
  if (cli?.endsWith('.js')) node([cli, ...args], cwd);
  else execFileSync('npm', args, { cwd, shell: process.platform === 'win32' });
}

function write(name: string, text: string): void {
  writeFileSync(join(consumer, name), text);
}

function packedFiles(): string[] {
  return readdirSync(installed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(installed, join(entry.parentPath, entry.name)).replaceAll(sep, '/'));
}

beforeAll(() => {
  npm(['pack', '--ignore-scripts', '--silent', '--pack-destination', temp], root);
  const tarball = readdirSync(temp).find((name) => name.endsWith('.tgz'));
  mkdirSync(consumer);
  write('package.json', '{ "private": true }');
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--silent'];
  npm(['install', join('..', `${tarball}`), ...quiet], consumer);
}, 120_000);

afterAll(() => rmSync(temp, { recursive: true, force: true }));

describe('the packed tarball', () => {
  it('holds compiled code, types and papers only', () => {
    const allowed = /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/.+\.(js|d\.ts))$/;
    expect(packedFiles().filter((name) => !allowed.test(name))).toEqual([]);
    expect(packedFiles()).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'CHANGELOG.md']));
  });

  it('holds every file that its package.json points to', () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    const targets = [...Object.values(manifest.exports), manifest.bin]
      .flatMap((target) => (typeof target === 'string' ? [target] : Object.values<string>(target)))
      .map((target) => target.replace(/^\.\//, ''));
    expect(packedFiles()).toEqual(expect.arrayContaining(targets));
  });

  it('starts its command with a line that names node', () => {
    const main = readFileSync(join(installed, 'dist', 'cli', 'main.js'), 'utf8');
    expect(main).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it('can be imported', () => {
    write('program.mjs', IMPORTS + PROGRAM);
    expect(node(['program.mjs'])).toBe(PROGRAM_PRINTS);
  });

  it.each([
    ['replay', 'none.log', '--limit', '1/s'],
    ['demo', '--port', '0'],
  ])('says what its %s needs to use Redis', (...args) => {
    const main = join(installed, 'dist', 'cli', 'main.js');
    const command = [main, ...args, '--redis', 'redis://127.0.0.1:1'];
    const { status, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr:
        'sluicegate: --redis needs the package ioredis: npm install ioredis\nSee: sluicegate --help\n',
    });
  });

  it('has adapters that can be imported without their frameworks', () => {
    const names = ['express', 'fastify', 'koa', 'hono', 'fetch', 'node', 'decorator', 'http'];
    const imports = names.map((name) => `import * as ${name} from 'sluicegate/${name}';`);
    const functions = names.slice(0, 6).map((name) => `typeof ${name}.rateLimit`);
    const rest = '[typeof decorator.RateLimit, typeof http.HttpFilter]';
    const print = `console.log([${functions}, ...${rest}].join());`;
    write('adapters.mjs', `${imports.join('\n')}\n${print}`);
    expect(node(['adapters.mjs'])).toBe(`${Array(8).fill('function').join()}\n`);
  });

  it('can be required', () => {
    write('program.cjs', REQUIRES + PROGRAM);
    expect(node(['program.cjs'])).toBe(PROGRAM_PRINTS);
  });

  it.each([
    { module: 'nodenext', moduleResolution: 'nodenext' },
    { module: 'esnext', moduleResolution: 'bundler' },
  ])('has types that need neither lib.dom nor @types/node ($moduleResolution)', (resolution) => {
    write('typed.mts', `${IMPORTS}declare const console: { log(text: string): void };${PROGRAM}`);
    const base = { target: 'es2022', lib: ['es2022'], types: [], strict: true };
    const compilerOptions = { ...base, ...resolution, skipLibCheck: false };
    write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['typed.mts'] }));
    node([join(root, 'node_modules', 'typescript', 'bin', 'tsc')]);
    expect(node(['typed.mjs'])).toBe(PROGRAM_PRINTS);
  });

  it('can be bundled into one file that runs with nothing beside it', async () => {
    write('program.mjs', IMPORTS + PROGRAM);
    const outDir = join(temp, 'bundle');
    await build({
      root: consumer,
      configFile: false,
      logLevel: 'error',
      ssr: { noExternal: true },
      build: { ssr: 'program.mjs', outDir, emptyOutDir: true },
    });
    const files = readdirSync(outDir);
    expect(files).toHaveLength(1);
    expect(node(files, outDir)).toBe(PROGRAM_PRINTS);
  });
});
