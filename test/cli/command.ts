import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** The built `sluicegate` command, running. */
export class Command {
  readonly child: ChildProcess;
  /** What it printed, and its exit code once it has ended by itself. */
  readonly ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
  #stdout = '';
  #stderr = '';

  constructor(args: string[], env: Record<string, string> = {}) {
    this.child = spawn(process.execPath, [MAIN, ...args], {
      env: { ...process.env, PORT: undefined, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (text) => {
      this.#stdout += text;
    });
    this.child.stderr?.on('data', (text) => {
      this.#stderr += text;
    });
    this.ended = once(this.child, 'close').then(([code]) => {
      return { code, stdout: this.#stdout, stderr: this.#stderr };
    });
  }

  /** Waits until the command has printed a match; throws if it ends without. */
  async printed(pattern: RegExp): Promise<string> {
    let over = false;
    const ended = this.ended.then(() => {
      over = true;
    });
    for (;;) {
      const found = pattern.exec(this.#stdout);
      if (found !== null) return found[1] ?? found[0];
      if (over)
        throw new Error(`ended without printing ${pattern}:\n${this.#stdout}${this.#stderr}`);
      await Promise.race([ended, once(this.child.stdout as NodeJS.ReadableStream, 'data')]);
    }
  }

  /** The address that `sluicegate demo` serves at. */
  url(): Promise<string> {
    return this.printed(/(http:\/\/127\.0\.0\.1:\d+)\/\n/);
  }

  async stop(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}
