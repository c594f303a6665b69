import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../../test/support/ports.ts';

/** What the server has counted so far. */
export interface Counts {
  /** Scripts called. */
  readonly scripts: number;
  /** Commands of all kinds, those inside scripts included. */
  readonly commands: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** A redis-server of the benchmark's own, on a free port, with nothing written to disk. */
export class BenchServer {
  readonly port: number;
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #admin: Redis;

  private constructor(port: number) {
    this.port = port;
    this.#folder = mkdtempSync(join(tmpdir(), 'sluicegate-bench-'));
    const place = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', this.#folder];
    const args = [...place, '--save', '', '--appendonly', 'no'];
    this.#process = spawn(process.env.REDIS_SERVER ?? 'redis-server', args, { stdio: 'ignore' });
    this.#admin = new Redis(port, { retryStrategy: () => 50, maxRetriesPerRequest: null });
    this.#admin.on('error', () => {});
  }

  static async start(): Promise<BenchServer> {
    const server = new BenchServer(await freePort());
    await server.#admin.ping();
    return server;
  }

  /** What it is: the version of the server. */
  async version(): Promise<string> {
    const info = await this.#admin.info('server');
    return /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown';
  }

  async clear(): Promise<void> {
    await this.#admin.flushall();
    await this.#admin.config('RESETSTAT');
  }

  async counts(): Promise<Counts> {
    const commands = await this.#admin.info('commandstats');
    const stats = await this.#admin.info('stats');
    const calls = [...commands.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
    const count = (wanted: (name: string) => boolean) =>
      calls.reduce((sum, [, name, n]) => sum + (wanted(name as string) ? Number(n) : 0), 0);
    const stat = (name: string) => Number(new RegExp(`${name}:(\\d+)`).exec(stats)?.[1]);
    return {
      scripts: count((name) => name === 'eval' || name === 'evalsha'),
      commands: count((name) => name !== 'info' && !name.startsWith('config')),
      bytesIn: stat('total_net_input_bytes'),
      bytesOut: stat('total_net_output_bytes'),
    };
  }

  stop(): void {
    this.#admin.disconnect();
    this.#process.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
