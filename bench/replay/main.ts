// The built `sluicegate replay` on a combined log of 1 GB, generated from a seed.
//
//   node build/bench/replay/main.js [--quick]
//
// Says how many lines a second it reads, of the processor's time and of the clock on the wall, and how much memory it
// takes; ends with exit code 1 if that is not what docs/replay.md promises. `--quick` takes 100 MB.

import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { accessLog } from '../../test/support/access-log.ts';

const SEED = 8;
const LEAST_LINES_PER_SECOND = 300_000;
const MOST_RSS_MB = 300;

const RUNS: readonly (readonly string[])[] = [
  ['--limit', '100/60s'],
  ['--limit', '100/60s', '--algorithm', 'all'],
  ['--limit', '100/60s', '--suggest', '1'],
];

const USAGE = `process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  console.error('usage ' + JSON.stringify({ maxRSS, cpu: (userCPUTime + systemCPUTime) / 1e6 }));
});`;

const megabytes = process.argv.includes('--quick') ? 100 : 1000;
const folder = mkdtempSync(join(tmpdir(), 'sluicegate-bench-replay-'));
try {
  const log = join(folder, 'access.log');
  writeLog(log);
  console.log(
    `${megabytes} MB, Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores`,
  );
  console.log(
    '| options | lines | lines/s of a core | lines/s | memory, MB |\n| --- | --- | --- | --- | --- |',
  );
  const rows = RUNS.map((options) => measure(log, options));
  // The promise is about the command as most people run it: one limit, one algorithm.
  const [plain] = rows;
  if (plain === undefined || plain.perCoreSecond < LEAST_LINES_PER_SECOND) process.exitCode = 1;
  if (rows.some(({ rssMb }) => rssMb >= MOST_RSS_MB)) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function writeLog(path: string): void {
  const file = openSync(path, 'w');
  for (const block of accessLog(SEED, megabytes * 1e6)) writeSync(file, block);
  closeSync(file);
}

function measure(log: string, options: readonly string[]) {
  const usage = `data:text/javascript,${encodeURIComponent(USAGE)}`;
  const args = ['--import', usage, 'dist/cli/main.js', 'replay', log, ...options, '--json'];
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const seconds = (performance.now() - started) / 1000;
  if (status !== 0) throw new Error(stderr);
  const { lines }: { lines: number } = JSON.parse(stdout);
  const { maxRSS, cpu } = JSON.parse(/^usage (.*)$/m.exec(stderr)?.[1] ?? '{}');
  const perCoreSecond = Math.round(lines / cpu);
  const rssMb = (maxRSS * 1024) / 1e6;
  const cells = [lines, perCoreSecond, Math.round(lines / seconds), Math.round(rssMb)];
  console.log(`| ${options.join(' ')} | ${cells.map((n) => n.toLocaleString('en')).join(' | ')} |`);
  return { perCoreSecond, rssMb };
}
