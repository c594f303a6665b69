import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformWithEsbuild } from 'vite';
import { describe, expect, it } from 'vitest';

const src = fileURLToPath(new URL('../src', import.meta.url));

/** What the files of a layer, a file or a folder of src, may import beside each other. */
const LAYERS: Record<string, readonly string[]> = {
  limiter: [],
  errors: [],
  rate: [],
  clock: ['limiter'],
  options: ['limiter', 'errors', 'clock', 'rate'],
  testing: ['options'],
  'key-text': ['limiter', 'options'],
  timers: ['limiter', 'clock'],
  deadlines: ['timers'],
  lease: ['limiter'],
  core: ['limiter', 'errors', 'options', 'rate'],
  local: ['limiter', 'errors', 'options', 'clock', 'core'],
  redis: [
    'limiter',
    'errors',
    'options',
    'clock',
    'rate',
    'key-text',
    'timers',
    'deadlines',
    'lease',
  ],
  tiered: ['limiter', 'errors', 'options', 'clock', 'key-text', 'timers', 'deadlines', 'lease'],
  'redis.ts': ['limiter', 'errors', 'redis', 'tiered'],
  http: ['limiter', 'errors', 'options'],
  shorthand: ['limiter', 'errors', 'options', 'local', 'http'],
  decorator: ['limiter', 'errors', 'options', 'http', 'shorthand'],
  adapters: ['limiter', 'errors', 'options', 'http', 'shorthand', 'decorator', 'local'],
  index: ['limiter', 'errors', 'local'],
  replay: ['index', 'limiter', 'options', 'redis.ts', 'timers'],
  cli: ['index', 'limiter', 'redis.ts', 'replay', 'http'],
};

/** Packages of others, by layer. Users of the library load what all layers but the command import. */
const PACKAGES: Record<string, RegExp> = {
  'key-text': /^node:crypto$/,
  deadlines: /^node:async_hooks$/,
  redis: /^(ioredis|node:crypto)$/,
  http: /^(node:(async_hooks|crypto|net)|path-to-regexp)$/,
  adapters: /^(node:http|proxy-addr|@nestjs\/(common|core)|(express|fastify|hono|koa)(\/.*)?)$/,
  tiered: /^node:(async_hooks|crypto|diagnostics_channel)$/,
  core: /^(@assemblyscript\/loader|node:worker_threads)$/,
  cli: /^(node:|(ioredis|papaparse)$)/,
};

interface Source {
  readonly name: string;
  readonly layer: string;
  readonly text: string;
  /** Without comments, so that prose may say anything. */
  readonly code: string;
}

const sources: Source[] = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((path) => {
    const name = path.split(sep).join('/');
    const text = readFileSync(join(src, path), 'utf8');
    const code = text.replaceAll(/\/\*.*?\*\/|^\s*\/\/.*?$/gms, '');
    return { name, layer: layerOf(name), text, code };
  });

function layerOf(name: string): string {
  if (name in LAYERS) return name; // a front door beside the folder that it opens
  return (name.split('/')[0] ?? '').replace(/\.ts$/, '');
}

/** The specifiers that a file imports or re-exports, types too. */
function importsOf({ code }: Source): string[] {
  const statements = /^(?:import|export)\b[^'"`=;]*?\bfrom\s*'([^']+)'|^import\s*'([^']+)'/gm;
  const calls = /\b(?:import|require)\(\s*'([^']+)'\s*\)/g;
  return [...code.matchAll(statements), ...code.matchAll(calls)].map(
    (match) => match[1] ?? match[2] ?? '',
  );
}

function importedLayer(source: Source, specifier: string): string {
  const path = join(src, dirname(source.name), specifier);
  return layerOf(relative(src, path).split(sep).join('/'));
}

describe('the sources', () => {
  it('are found, and their imports with them', () => {
    const found = new Map(sources.map((source) => [source.name, importsOf(source)]));
    expect(found.size).toBeGreaterThan(15);
    expect(found.get('local/token-bucket-limiter.ts')).toEqual([
      '../limiter.ts',
      '../options.ts',
      './table-limiter.ts',
    ]);
    expect(found.get('index.ts')).toContain('./local/sliding-window-counter-limiter.ts');
    expect(found.get('core/front.ts')).toContain('@assemblyscript/loader');
  });

  it.each(sources)('import in one direction only: $name', (source) => {
    const allowed = LAYERS[source.layer] ?? expect.fail(`no layer is named ${source.layer}`);
    for (const specifier of importsOf(source).filter((name) => name.startsWith('.'))) {
      const layer = importedLayer(source, specifier);
      expect([source.layer, ...allowed], `${source.name} imports ${specifier}`).toContain(layer);
    }
  });

  it.each(sources)('need no package but those of their layer: $name', (source) => {
    for (const specifier of importsOf(source).filter((name) => !name.startsWith('.'))) {
      expect(specifier).toMatch(PACKAGES[source.layer] ?? /^$/);
    }
  });

  it('say WebAssembly in core only', () => {
    const written = sources.filter(({ name }) => !name.endsWith('.generated.ts'));
    const sayers = written.filter(({ code }) => /\bWebAssembly\b/.test(code));
    expect(sayers.length).toBeGreaterThan(0);
    expect(sayers.filter(({ layer }) => layer !== 'core').map(({ name }) => name)).toEqual([]);
  });

  it.each(sources)('await nothing at the top level: $name', async ({ name, text }) => {
    // CommonJS has no way to say it, so that the translation fails.
    await transformWithEsbuild(text, name, { format: 'cjs', target: 'es2022' });
  });

  it('have a front door without logic', () => {
    const { code } = sources.find(({ name }) => name === 'index.ts') as Source;
    expect(code.replaceAll(/export (type )?\{[^}]*\} from '\.[^']+';/g, '').trim()).toBe('');
  });

  it('export by name only', () => {
    const withDefault = sources.filter(({ code }) =>
      /\bexport default\b|\bas default\b/.test(code),
    );
    expect(withDefault.map(({ name }) => name)).toEqual([]);
  });

  it('that are types only import nothing', () => {
    const { code } = sources.find(({ name }) => name === 'limiter.ts') as Source;
    expect(code).not.toMatch(/\bimport\b|\b(const|let|class|function)\b/);
  });
});

it('a top-level await would be seen', async () => {
  const text = 'const x = await 1;\nexport { x };';
  const options = { format: 'cjs', target: 'es2022' } as const;
  await expect(transformWithEsbuild(text, 'x.ts', options)).rejects.toThrow('Top-level await');
});
