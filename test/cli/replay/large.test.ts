import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { accessLog } from '../../support/access-log.ts';
import { MAIN } from '../command.ts';
import { file } from './run.ts';

const BYTES = 50e6;
const MOST_RSS = 300 * 1024 * 1024;

it('a log of 50 MB takes less than 300 MB of memory, under all algorithms', async () => {
  const usage = file(
    'usage.mjs',
    'process.on("exit", () => console.error(process.resourceUsage().maxRSS))',
  );
  const command = [MAIN, 'replay', '-', '--limit', '100/60s', '--algorithm', 'all', '--json'];
  const args = ['--import', `file://${usage}`, ...command];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  let lines = 0;
  function* counted() {
    for (const block of accessLog(8, BYTES)) {
      for (const byte of block) if (byte === 10) lines += 1;
      yield block;
    }
  }
  Readable.from(counted()).pipe(child.stdin);
  await once(child, 'close');
  const { requests, skipped, results } = JSON.parse(stdout);
  expect(lines).toBeGreaterThan(200_000);
  expect(requests).toBe(lines);
  for (const { count } of Object.values<{ count: number }>(skipped)) expect(count).toBe(0);
  for (const { admitted, denied, overflowed } of results) {
    expect({ all: admitted + denied, overflowed }).toEqual({ all: lines, overflowed: 0 });
    expect(denied).toBeGreaterThan(0);
  }
  const kibibytes = Number(/^(\d+)\n$/m.exec(stderr)?.[1]);
  expect(kibibytes).toBeGreaterThan(10_000);
  expect(kibibytes * 1024).toBeLessThan(MOST_RSS);
}, 60_000);
