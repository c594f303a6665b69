import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs an ES module in a Node process of its own, which can import this package by name; returns what it prints. */
export function runProgram(source: string, nodeArguments: readonly string[] = []): string {
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [...nodeArguments, '--input-type=module', '--eval', source],
    { cwd: root, encoding: 'utf8', timeout: 20_000 },
  );
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' });
  return stdout;
}
