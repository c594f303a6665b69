// How the scripts start other programs. No dependencies: they run before `npm ci` has.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Ends the script with `message` as its last line on stderr. */
export function fail(message) {
  console.error(`\nsluicegate: ${message}`);
  process.exit(1);
}

/** Runs a program in the repository root, its output shown as it comes; returns its exit code. */
export function run(command, args, options = {}) {
  const { status, signal, error } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    ...options,
  });
  if (error) console.error(`${command}: ${error.message}`);
  else if (signal) console.error(`${command}: ended by ${signal}`);
  return status ?? 1;
}

/** Runs an installed tool by its script (no shell, no `.cmd` shims); returns its exit code. */
export function runTool(script, args, { node = process.execPath, ...options } = {}) {
  return run(node, [join(root, 'node_modules', script), ...args], options);
}

/** Runs the npm that started us, else the one in the PATH; returns its exit code. */
export function npm(args, options = {}) {
  const cli = process.env.npm_execpath;
  if (cli?.endsWith('.js')) return run(process.execPath, [cli, ...args], options);
  return run('npm', args, { shell: process.platform === 'win32', ...options });
}
