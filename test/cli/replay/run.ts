import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { ReplayResult } from '../../../src/cli/replay/result.ts';
import { MAIN } from '../command.ts';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `sluicegate replay` to its end, with that on its standard input. */
export async function replay(args: readonly string[], input?: string | Buffer): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, 'replay', ...args], { stdio: 'pipe' });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  // A command that refuses its options reads nothing.
  child.stdin.on('error', () => {}).end(input);
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

/** A `sluicegate replay` whose standard input stays open. */
export interface Live {
  readonly ended: Promise<Ended & { readonly signal: NodeJS.Signals | null }>;
  write(text: string): void;
  kill(signal: NodeJS.Signals): void;
  stop(): Promise<void>;
}

export function live(args: readonly string[]): Live {
  const child = spawn(process.execPath, [MAIN, 'replay', ...args], { stdio: 'pipe' });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  child.stdin.on('error', () => {});
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, stdout, stderr }));
  return {
    ended,
    write: (text) => void child.stdin.write(text),
    kill: (signal) => void child.kill(signal),
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The result in JSON; throws with the message if there is none. */
export async function replayed(
  args: readonly string[],
  input?: string | Buffer,
): Promise<ReplayResult> {
  const { code, stdout, stderr } = await replay([...args, '--json'], input);
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

const folder = mkdtempSync(join(tmpdir(), 'sluicegate-replay-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A file for this test file only; returns its path. */
export function file(name: string, content: string | Buffer = ''): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A line of a combined log. */
export function combined(ms: number, ip: string, request = 'GET / HTTP/1.1', user = '-'): string {
  const iso = new Date(ms).toISOString();
  const month = MONTHS[Number(iso.slice(5, 7)) - 1];
  const time = `${iso.slice(8, 10)}/${month}/${iso.slice(0, 4)}:${iso.slice(11, 19)} +0000`;
  return `${ip} - ${user} [${time}] "${request}" 200 5120 "https://example.com/" "Mozilla/5.0 (X11)"\n`;
}
