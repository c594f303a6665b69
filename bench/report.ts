import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import { chartPage } from './chart/page.ts';
import type { Effort } from './options.ts';
import { versionsOf } from './processes.ts';
import { asMarkdown } from './render.ts';
import { root } from './root.ts';
import type { Measured } from './sections/section.ts';

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

export function describeMachine({ cpu, cores, memoryGiB, system }: Origin): string {
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB, ${system}`;
}

export function describe(origin: Origin, { quick, rounds }: Effort): string {
  const { version, node, v8, load, date } = origin;
  const processes = rounds === 1 ? '1 process' : `${rounds} processes`;
  return (
    `Sluicegate ${version} on Node.js ${node} (V8 ${v8}); ${describeMachine(origin)}; ` +
    `load before ${load.toFixed(2)}; ${date}; ${quick ? 'quick run, ' : ''}${processes} a subject and workload.`
  );
}

/** Writes `latest.json`, `.md` and `.html`, the charts, and the same under the Node version's name; returns the folder. */
export function writeReport(
  origin: Origin,
  effort: Effort,
  measured: Readonly<Record<string, Measured<unknown>>>,
): string {
  const rows = Object.entries(measured).map(([name, { rows }]) => [name, rows]);
  const json = { schema: 2, origin, effort, ...Object.fromEntries(rows) };
  const sections = Object.values(measured).map(({ section }) => asMarkdown(section));
  const markdown = ['# Benchmark', describe(origin, effort), ...sections].join('\n\n');
  const charts = Object.values(measured).flatMap(({ charts = [] }) => charts);
  const page = chartPage('Sluicegate and others', describe(origin, effort), charts);
  for (const name of ['latest', `node-${origin.node}`]) {
    write(`${name}.json`, JSON.stringify(json, null, 2));
    write(`${name}.md`, markdown);
    write(`${name}.html`, page);
  }
  return fileURLToPath(folder);
}

/** What a suite of one section has measured. */
export interface SuiteReport<Row> {
  /** Of its files. */
  readonly name: string;
  readonly title: string;
  readonly origin: Origin;
  readonly effort: Effort;
  readonly measured: Measured<Row>;
  /** What else its JSON says. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** Writes `NAME.json` and `NAME.md`; returns the folder. */
export function writeSuiteReport<Row>(report: SuiteReport<Row>): string {
  const { name, title, origin, effort, measured, facts } = report;
  const json = { schema: 1, origin, effort, ...facts, [name]: measured.rows };
  const markdown = [`# ${title}`, describe(origin, effort), asMarkdown(measured.section)];
  write(`${name}.json`, JSON.stringify(json, null, 2));
  write(`${name}.md`, markdown.join('\n\n'));
  return fileURLToPath(folder);
}

function write(name: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL(name, folder), `${text}\n`);
}
