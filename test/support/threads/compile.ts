import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
/** Kept between runs, one entry for each state of the sources. The build empties it. */
const cache = join(root, 'build', 'test');
const ASC = join(root, 'node_modules', 'assemblyscript', 'bin', 'asc.js');
/** What scripts/build.js gives the shared table. */
const SHARED = ['--enable', 'threads', '--sharedMemory', '--maximumMemory', '32768'];

/** Compiles an entry below test/assembly for shared memory. */
export function compileForTest(entry: string): WebAssembly.Module {
  const name = `${hashOf(['assembly', 'test/assembly'], entry)}.wasm`;
  const file = cached(name, (target) => asc(root, join(root, 'test', 'assembly', entry), target));
  return new WebAssembly.Module(readFileSync(file));
}

/** A copy of one line of the sources, and what is to stand there instead. */
export interface Mutation {
  /** Below assembly/. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/**
 * The built package with another shared table: its sources with these lines replaced. Returns the URL of a folder that
 * workers and tests import as they do the real one; see `packageAt`.
 */
export function mutatedPackage(mutations: readonly Mutation[]): string {
  const name = hashOf(['assembly', 'dist'], JSON.stringify(mutations));
  const folder = cached(name, (target) => {
    const sources = `${target}-sources`;
    cpSync(join(root, 'assembly'), join(sources, 'assembly'), { recursive: true });
    for (const mutation of mutations) mutate(sources, mutation);
    cpSync(join(root, 'dist'), target, { recursive: true });
    asc(sources, join(sources, 'assembly', 'table', 'index.ts'), join(target, 'table.wasm'));
    rmSync(sources, { recursive: true });
    const wasm = readFileSync(join(target, 'table.wasm')).toString('base64');
    replaceIn(join(target, 'core', 'wasm.generated.js'), /(sharedTable = )'[^']*'/, `$1'${wasm}'`);
  });
  return pathToFileURL(`${folder}/`).href;
}

/** The package as it was built. */
export const builtPackage = pathToFileURL(join(root, 'dist/')).href;

type Package = typeof import('../../../src/index.ts');

/** What a built package exports. */
export function packageAt(folder: string): Promise<Package> {
  return import(/* @vite-ignore */ `${folder}index.js`) as Promise<Package>;
}

function mutate(sources: string, { file, from, to }: Mutation): void {
  replaceIn(join(sources, 'assembly', file), from, to);
}

function replaceIn(file: string, from: string | RegExp, to: string): void {
  const before = readFileSync(file, 'utf8');
  const after =
    typeof from === 'string' ? before.replace(from, () => to) : before.replace(from, to);
  if (after === before) throw new Error(`${file} has nothing like ${from}`);
  writeFileSync(file, after);
}

function asc(baseDir: string, entry: string, outFile: string): void {
  const config = join(root, 'asconfig.json');
  const args = [entry, '--config', config, '--target', 'release', '--outFile', outFile, ...SHARED];
  execFileSync(process.execPath, [ASC, ...args], {
    cwd: baseDir,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

/** A file or folder in the cache, made by `make` if it is not there. Two processes may do so at once. */
function cached(name: string, make: (target: string) => void): string {
  const final = join(cache, name);
  if (existsSync(final)) return final;
  mkdirSync(cache, { recursive: true });
  const temp = mkdtempSync(join(cache, 'making-'));
  const target = join(temp, 'made');
  make(target);
  try {
    renameSync(target, final);
  } catch (error) {
    if (!existsSync(final)) throw error;
  }
  rmSync(temp, { recursive: true, force: true });
  return final;
}

function hashOf(folders: readonly string[], more: string): string {
  const hash = createHash('sha256').update(more);
  for (const folder of folders) {
    for (const name of readdirSync(join(root, folder), {
      recursive: true,
      encoding: 'utf8',
    }).sort()) {
      if (!/\.(ts|js)$/.test(name)) continue;
      hash.update(name).update(readFileSync(join(root, folder, name)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}
