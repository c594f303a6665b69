import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root as rootUrl } from '../root.ts';

const root = fileURLToPath(rootUrl);

/** What went wrong, for the person who asked; no stack is needed to understand it. */
export class CompareError extends Error {}

export interface Commit {
  readonly ref: string;
  readonly hash: string;
  /** First line of its message. */
  readonly subject: string;
}

/** The commit that a ref of this repository names. */
export function commitOf(ref: string): Commit {
  const found = git('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`);
  const hash = found.output.trim();
  if (!found.ok) throw new CompareError(`${ref} is no commit of this repository`);
  return { ref, hash, subject: git('log', '-1', '--format=%s', hash).output.trim() };
}

/**
 * An empty temporary folder, removed when this process ends: at its end, by an error or by a signal. Signals that come
 * while a child runs are served when it has ended, which on Ctrl-C it has.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-compare-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Builds a commit in `folder` and returns its dist. The repository's own files and worktrees are left alone. */
export function buildCommit({ ref, hash }: Commit, folder: string): string {
  const archive = join(folder, 'commit.tar');
  const tree = join(folder, 'tree');
  mkdirSync(tree);
  const packed = git('archive', '--format=tar', `--output=${archive}`, hash);
  if (!packed.ok) throw new CompareError(`git could not pack ${ref}:\n${packed.output}`);
  const unpacked = run('tar', ['-xf', archive, '-C', tree], root);
  if (!unpacked.ok) throw new CompareError(`tar could not unpack ${ref}:\n${unpacked.output}`);
  if (sameFile('package-lock.json', tree)) {
    symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'), 'junction');
  }
  // Where there are no packages yet, it installs them.
  const built = run(process.execPath, ['scripts/setup.js', '--force'], tree);
  const dist = join(tree, 'dist');
  if (!built.ok || !existsSync(dist)) {
    throw new CompareError(`${ref} could not be built:\n${built.output}`);
  }
  return dist;
}

function sameFile(name: string, tree: string): boolean {
  const theirs = join(tree, name);
  return existsSync(theirs) && readFileSync(theirs).equals(readFileSync(join(root, name)));
}

function git(...args: string[]) {
  return run('git', args, root);
}

interface Outcome {
  readonly ok: boolean;
  /** All that it has printed. */
  readonly output: string;
}

function run(command: string, args: readonly string[], cwd: string): Outcome {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (error !== undefined) throw new CompareError(`${command} cannot be run: ${error.message}`);
  return { ok: status === 0, output: stdout + stderr };
}
