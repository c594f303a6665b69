import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, Redis, type RedisOptions } from 'ioredis';
import { freePort } from './ports.ts';
import { until } from './until.ts';

const COMMAND = process.env.REDIS_SERVER ?? 'redis-server';
const HOST = '127.0.0.1';
/** DEBUG needs leave since Redis 7.0, which older ones do not know how to give. */
const DEBUG = / v=6\./.test(execFileSync(COMMAND, ['--version'], { encoding: 'utf8' }))
  ? []
  : ['--enable-debug-command', 'local'];

/** Nobody outlives the tests, not even where one of them fails. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A redis-server of our own, which forgets everything when it stops. */
export class RedisServer {
  readonly port: number;
  readonly #folder = mkdtempSync(join(tmpdir(), 'sluicegate-redis-'));
  readonly #args: readonly string[];
  readonly #clients: (Redis | Cluster)[] = [];
  #file: string | undefined;
  #process: ChildProcess | undefined;
  #admin: Redis | undefined;

  private constructor(port: number, args: readonly string[]) {
    this.port = port;
    this.#args = args;
  }

  static async start(...args: string[]): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), args);
    await server.up();
    return server;
  }

  /** A Sentinel that watches this master and fails it over within some seconds. */
  static async sentinel(master: RedisServer, name: string): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), ['--sentinel']);
    const lines = [
      `port ${server.port}`,
      `bind ${HOST}`,
      `sentinel monitor ${name} ${HOST} ${master.port} 1`,
      `sentinel down-after-milliseconds ${name} 2000`,
      `sentinel failover-timeout ${name} 3000`,
    ];
    // Sentinel writes to its file what it learns.
    server.#file = join(server.#folder, 'sentinel.conf');
    writeFileSync(server.#file, `${lines.join('\n')}\n`);
    await server.up();
    return server;
  }

  /** Starts it, again if it had stopped: on the same port, with nothing in it. */
  async up(): Promise<void> {
    const settings = ['--port', `${this.port}`, '--bind', HOST, '--dir', this.#folder];
    const volatile = ['--save', '', '--appendonly', 'no', '--repl-diskless-sync-delay', '0'];
    const own = this.#file === undefined ? [...settings, ...volatile, ...DEBUG] : [this.#file];
    const args = [...own, ...this.#args];
    const child = spawn(COMMAND, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    child.stdout?.on('data', (data) => {
      said += data;
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    this.#process = child;
    const redis = this.admin();
    await until(
      async () => {
        if (child.exitCode !== null) throw new Error(`redis-server ended: ${said}`);
        return (await redis.ping().catch(() => '')) === 'PONG';
      },
      { ms: 10_000, what: `redis-server on port ${this.port}` },
    );
  }

  /** A connection of the tests' own, which answers errors at once. */
  admin(): Redis {
    this.#admin ??= new Redis(this.port, HOST, {
      retryStrategy: () => 20,
      maxRetriesPerRequest: 0,
    }).on('error', () => {});
    return this.#admin;
  }

  /** A client that is closed with the server. */
  client(options: RedisOptions = {}): Redis {
    const settings = { host: HOST, port: this.port, retryStrategy: () => 20, ...options };
    const client = new Redis(settings as unknown as string);
    return this.owns(client.on('error', () => {}));
  }

  owns<T extends Redis | Cluster>(client: T): T {
    this.#clients.push(client);
    return client;
  }

  /** Ends it as an operator does. */
  async shutdown(): Promise<void> {
    await until(() => {
      if (!this.#running) return true;
      return this.admin()
        .shutdown('NOSAVE')
        .then(
          () => !this.#running,
          () => !this.#running,
        );
    });
  }

  /** Ends it like a machine that loses power. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === undefined || !this.#running) return;
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await ended;
  }

  /** Stops the process where it is; the connections stay. `freeze(false)` lets it go on. */
  freeze(frozen = true): void {
    this.#process?.kill(frozen ? 'SIGSTOP' : 'SIGCONT');
  }

  get #running(): boolean {
    const child = this.#process;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  async stop(): Promise<void> {
    for (const client of this.#clients.splice(0)) client.disconnect();
    this.#admin?.disconnect();
    this.#admin = undefined;
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** How often scripts were called, by any client, since the counts were last set to zero. */
export async function scriptCalls(redis: Redis): Promise<number> {
  const info = await redis.info('commandstats');
  return [...info.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  );
}
