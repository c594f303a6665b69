import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const src = fileURLToPath(new URL('../../src', import.meta.url));

/** What a source file imports for its values: paths below src/, or the names of packages. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8');
  return [...text.matchAll(/^(?:import|export)\s+(?!type\s)[^;]*?from '([^']+)';/gm)]
    .map(([, specifier]) => specifier as string)
    .map((name) => (name.startsWith('.') ? relative(src, join(src, dirname(file), name)) : name));
}

/** All that a file pulls in, itself included. */
function reached(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  if (file.endsWith('.ts') && !file.endsWith('generated.ts')) {
    for (const name of importsOf(file)) reached(name, seen);
  }
  return seen;
}

const packages = (file: string) =>
  [...reached(file)].filter((name) => !name.endsWith('.ts') && !name.startsWith('node:')).sort();

it('the main entry pulls in nothing of HTTP, and no package but the loader', () => {
  expect(packages('index.ts')).toEqual(['@assemblyscript/loader']);
  expect([...reached('index.ts')].filter((name) => /^(http|adapters)\//.test(name))).toEqual([]);
});

it('http/ knows the RateLimiter interface, not the limiters', () => {
  for (const file of readdirSync(join(src, 'http'))) {
    const own = importsOf(join('http', file)).filter((name) => name.endsWith('.ts'));
    expect(own.filter((name) => !/^(http\/|errors|options|limiter)/.test(name))).toEqual([]);
  }
});

it('adapters pull in small libraries only; Nest’s pulls in Nest', () => {
  const known = ['@assemblyscript/loader', 'path-to-regexp', 'proxy-addr'];
  for (const name of ['express', 'fetch', 'hono', 'koa', 'node']) {
    expect(packages(`adapters/${name}.ts`)).toEqual(known);
  }
  expect(packages('adapters/fastify.ts')).toEqual(known.filter((name) => name !== 'proxy-addr'));
  expect(packages('adapters/nest.ts')).toEqual(
    ['@nestjs/common', '@nestjs/core', ...known.filter((name) => name !== 'proxy-addr')].sort(),
  );
});
