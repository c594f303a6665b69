import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Effort } from './options.ts';
import { versionsOf } from './processes.ts';
import { asMarkdown } from './render.ts';
import type { Measured } from './sections/section.ts';

// Compiled files lie two folders below the repository's root, in build/bench.
const root = new URL('../../', import.meta.url);
const folder = new URL('bench/report/', root);

/** Where and when the figures come from. */
export interface Origin {
  readonly date: string;
  readonly version: string;
  readonly node: string;
  readonly v8: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  /** Average of the minute before the run: near the number of cores, something else was running. */
  readonly load: number;
}

export function originOf(node: string): Origin {
  const processors = cpus();
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  return {
    date: new Date().toISOString(),
    version,
    ...versionsOf(node),
    cpu: (processors[0]?.model ?? 'unknown').trim(),
    cores: processors.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()} ${process.arch}`,
    load: loadavg()[0] ?? 0,
  };
}

export function describe(origin: Origin, { quick, rounds }: Effort): string {
  const { version, node, v8, cpu, cores, memoryGiB, system, load, date } = origin;
  const processes = rounds === 1 ? '1 process' : `${rounds} processes`;
  return (
    `Sluicegate ${version} on Node.js ${node} (V8 ${v8}); ${cpu}, ${cores} cores, ${memoryGiB} GiB, ${system}; ` +
    `load before ${load.toFixed(2)}; ${date}; ${quick ? 'quick run, ' : ''}${processes} a subject and workload.`
  );
}

/** Writes `latest.json` and `latest.md` and the same under the Node version's name; returns the folder. */
export function writeReport(
  origin: Origin,
  effort: Effort,
  measured: Readonly<Record<string, Measured<unknown>>>,
): string {
  const rows = Object.entries(measured).map(([name, { rows }]) => [name, rows]);
  const json = { schema: 1, origin, effort, ...Object.fromEntries(rows) };
  const sections = Object.values(measured).map(({ section }) => asMarkdown(section));
  const markdown = ['# Benchmark', describe(origin, effort), ...sections].join('\n\n');
  mkdirSync(folder, { recursive: true });
  for (const name of ['latest', `node-${origin.node}`]) {
    writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(json, null, 2)}\n`);
    writeFileSync(new URL(`${name}.md`, folder), `${markdown}\n`);
  }
  return fileURLToPath(folder);
}
