import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { LimiterUnavailableError } from '../../redis.ts';
import type { Algorithm } from '../../replay/judges.ts';
import type { Limit } from '../../replay/limit.ts';
import { RedisJudge } from '../../replay/redis-judge.ts';
import { CliFault } from '../fault.ts';
import { importIoredis } from '../redis.ts';

/** No limit on a live path has so much time: a replay waits for a busy server, and ends at one that is gone. */
const ANSWER_MS = 10_000;
/** The scripts set it on keys whose time is given to them. */
const KEYS_LIVE_MS = 3_600_000;
const KEYS_A_SCAN = 1_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * The Redis that decides a replay, over one connection. All keys begin with a prefix that is random for each replay, so
 * that it meets neither a live limit nor another replay, and are deleted in the end, after a fault or a signal too.
 */
export class ReplayRedis {
  readonly #client: Redis;
  readonly #address: string;
  readonly #prefix = `sluicegate-replay-${randomBytes(8).toString('hex')}`;
  /** By what their keys begin with. */
  readonly #judges = new Map<string, RedisJudge>();
  readonly #warn: (message: string) => void;
  readonly #startedMs = performance.now();
  #ending: Promise<void> | undefined;

  private constructor(client: Redis, address: string, warn: (message: string) => void) {
    this.#warn = warn;
    this.#client = client;
    this.#address = address;
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** `warn` hears what does not end the replay. */
  static async connect(url: string, warn: (message: string) => void): Promise<ReplayRedis> {
    const { Redis } = await importIoredis();
    const address = withoutSecrets(url);
    let client: Redis | undefined;
    let refusal: unknown;
    try {
      // A connection that is lost ends the replay: what was on its way may have been decided or not.
      client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
      client.on('error', (error) => {
        refusal ??= error;
      });
      await answered(client.connect());
      // ioredis tells of a database that is not there, and goes on with another one.
      if (refusal !== undefined) throw refusal;
      return new ReplayRedis(client, address, warn);
    } catch (error) {
      if (client !== undefined) hangUp(client);
      throw new CliFault(`cannot use Redis at ${address}: ${messageOf(refusal ?? error)}`, 1);
    }
  }

  judge(algorithm: Algorithm, limit: Limit): RedisJudge {
    const prefix = `${this.#prefix}-${this.#judges.size}`;
    const options = { redis: this.#client, name: 'replay', prefix, deadlineMs: ANSWER_MS };
    const judge = new RedisJudge(algorithm, limit, options);
    this.#judges.set(prefix, judge);
    return judge;
  }

  /** Throws once the first keys may be gone, and with them what their clients have taken. */
  checkAge(): void {
    if (performance.now() - this.#startedMs < KEYS_LIVE_MS) return;
    throw new CliFault(
      'the replay took an hour, which is as long as its keys live in Redis; replay a part of the log, or fewer limits',
      1,
    );
  }

  /** What ends the replay, in words for a person if it is Redis. */
  faultOf(error: unknown): unknown {
    if (!(error instanceof LimiterUnavailableError)) return error;
    const isSilent = error.cause === undefined;
    // Deleting would only wait for as long again.
    if (isSilent) hangUp(this.#client);
    const cause = isSilent ? NO_ANSWER : messageOf(error.cause);
    const isCluster = /^(CROSSSLOT|MOVED)\b/.test(cause);
    const cure = isCluster ? '; it is part of a cluster, name a single server' : '';
    return new CliFault(`Redis at ${this.#address} does not decide: ${cause}${cure}`, 1);
  }

  /** To be called when all is decided: asks Redis what each judge's keys take, and then ends. */
  finish(): Promise<void> {
    return this.#end(true);
  }

  /** Deletes the keys and closes the connection, unless that was done. */
  close(): Promise<void> {
    return this.#end(false);
  }

  #end(weighs: boolean): Promise<void> {
    this.#ending ??= this.#clear(weighs)
      .catch((error) => {
        for (const judge of this.#judges.values()) judge.bytes = undefined;
        const keys = `${this.#prefix}*`;
        this.#warn(
          `could not delete the keys ${keys}, which expire within an hour: ${messageOf(error)}`,
        );
      })
      .finally(() => {
        hangUp(this.#client);
        for (const signal of SIGNALS) process.off(signal, this.#onSignal);
      });
    return this.#ending;
  }

  /** Ends as the signal wants it, but not before the keys are gone. Npm passes on what the terminal has sent already. */
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    for (const judge of this.#judges.values()) judge.close();
    this.close().then(() => process.kill(process.pid, signal));
  };

  async #clear(weighs: boolean): Promise<void> {
    for (const { inFlight } of this.#judges.values()) await inFlight;
    if (weighs) for (const judge of this.#judges.values()) judge.bytes = 0;
    let cursor = '0';
    do {
      const page = this.#client.scan(cursor, 'MATCH', `${this.#prefix}*`, 'COUNT', KEYS_A_SCAN);
      const [next, keys] = await answered(page);
      cursor = next;
      if (weighs) await this.#weigh(keys);
      if (keys.length > 0) await answered(this.#client.unlink(keys));
    } while (cursor !== '0');
  }

  /** Adds what the keys take to their judges' bytes; a server that does not say leaves those unknown. */
  async #weigh(keys: readonly string[]): Promise<void> {
    const pipeline = this.#client.pipeline();
    for (const key of keys) pipeline.memory('USAGE', key, 'SAMPLES', 0);
    const replies = (await answered(pipeline.exec())) ?? [];
    for (const [i, key] of keys.entries()) {
      const [error, bytes] = replies[i] ?? [];
      const judge = this.#judges.get(key.slice(0, key.indexOf(':')));
      if (judge?.bytes === undefined) continue;
      judge.bytes = error ? undefined : judge.bytes + Number(bytes);
    }
  }
}

const NO_ANSWER = `no answer within ${ANSWER_MS / 1000} s`;

async function answered<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(NO_ANSWER)), ANSWER_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** A connection that is gone already would keep ioredis waiting for two seconds. */
function hangUp(client: Redis): void {
  if (client.status !== 'close' && client.status !== 'end') client.disconnect();
}

/** Both addresses of a name refusing is an error without words. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ('code' in error ? String(error.code) : error.name);
}

/** An address as it may be shown: without user, password and options. */
function withoutSecrets(url: string): string {
  return url.replace(/\/\/.*@/, '//').replace(/\?.*/, '');
}
