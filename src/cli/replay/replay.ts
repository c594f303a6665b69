import { statSync } from 'node:fs';
import { type Batch, roomFor } from '../../replay/batch.ts';
import { judgeFor } from '../../replay/judges.ts';
import { Run } from '../../replay/run.ts';
import { Candidates } from '../../replay/suggest.ts';
import { Timeline } from '../../replay/timeline.ts';
import { CliFault } from '../fault.ts';
import { type KnownLog, recognise } from './formats/detect.ts';
import type { Names } from './names.ts';
import type { ReplayOptions } from './options.ts';
import type { Progress } from './progress.ts';
import { ReplayRedis } from './redis.ts';
import type { Distribution, GroupRow, ReplayResult, Suggestion } from './result.ts';
import { openSource, type Source } from './source.ts';
import { Spool } from './spool.ts';
import { TrafficBuilder } from './traffic.ts';

const MS = 1000;

/** Reads the logs once, replays them under every limit and algorithm, and then looks for better limits. */
export async function replayLogs(
  options: ReplayOptions,
  progress: Progress,
): Promise<ReplayResult> {
  if (options.redis === undefined) return replayWith(options, progress, undefined);
  const redis = await ReplayRedis.connect(options.redis, (message) => {
    progress.clear();
    console.error(message);
  });
  try {
    return await replayWith(options, progress, redis);
  } catch (error) {
    throw redis.faultOf(error);
  } finally {
    await redis.close();
  }
}

async function replayWith(
  options: ReplayOptions,
  progress: Progress,
  redis: ReplayRedis | undefined,
): Promise<ReplayResult> {
  const score = new Scoreboard(options, redis);
  try {
    const started = performance.now();
    const traffic = new TrafficBuilder(
      options.fields.key,
      options.fields.group !== undefined,
      options.ipv6Prefix,
      (batch, groups) => score.feed(batch, groups),
    );
    const { lines, files } = await readLogs(options, traffic, progress, () => score.decideAll());
    traffic.flush();
    await score.decideAll();
    await redis?.finish();
    const seconds = (performance.now() - started) / 1000;
    checkTraffic(traffic, lines, files, options);
    const suggestions = score.suggestions(progress);
    return {
      decidedIn: redis === undefined ? 'process' : 'redis',
      files,
      lines,
      seconds,
      linesPerSecond: Math.round(lines / seconds),
      requests: traffic.requests,
      clients: traffic.clientNames.length,
      fromMs: traffic.firstTimeUs / MS,
      toMs: traffic.lastTimeUs / MS,
      skipped: {
        broken: traffic.brokenLines,
        outOfOrder: traffic.outOfOrder,
        withoutKey: traffic.withoutKey,
      },
      ...score.results(traffic),
      suggestions,
    };
  } finally {
    score.close();
  }
}

/** Reads all logs into the traffic; `onChunk` is awaited before more is read. */
async function readLogs(
  options: ReplayOptions,
  traffic: TrafficBuilder,
  progress: Progress,
  onChunk: () => Promise<void>,
) {
  const total = totalBytes(options.files);
  let done = 0;
  const onBytes = (bytes: number) => {
    done += bytes;
    progress.show('reading', done, total);
  };
  const logs: KnownLog[] = [];
  for (const file of options.files) {
    const source = paced(await openSource(file, onBytes), onChunk);
    logs.push(recognise(source, options.format, options.fields, options.timeUnit));
  }
  // Rotated logs come in any order from a shell: the oldest is replayed first.
  logs.sort((a, b) => (a.firstTimeUs ?? 0) - (b.firstTimeUs ?? 0));
  let lines = 0;
  for (const { source, isLatin1, read } of logs) {
    traffic.begin(logs.length > 1 ? source.name : undefined, isLatin1);
    lines += await read(traffic);
  }
  progress.clear();
  return { lines, files: logs.map(({ source }) => source.name) };
}

/** The source, whose next chunk is read only when the last one has been dealt with. */
function paced(source: Source, onChunk: () => Promise<void>): Source {
  return {
    ...source,
    async *chunks() {
      for await (const chunk of source.chunks()) {
        yield chunk;
        await onChunk();
      }
    },
  };
}

/** 0 if it is not known. */
function totalBytes(files: readonly string[]): number {
  if (files.includes('-')) return 0;
  return files.reduce((sum, file) => {
    return sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  }, 0);
}

function checkTraffic(
  traffic: TrafficBuilder,
  lines: number,
  files: readonly string[],
  options: ReplayOptions,
): void {
  if (traffic.requests > 0) return;
  const name = files.join(', ');
  if (lines === 0) throw new CliFault(`${name} is empty: there is nothing to replay`, 1);
  const { brokenLines, withoutKey } = traffic;
  if (withoutKey.count > 0) {
    const key = options.fields.key.map((field) => field.name).join(',');
    throw new CliFault(
      `no line of ${name} has a key (${key}); name another with --key, like --key field:client_ip`,
      1,
    );
  }
  throw new CliFault(
    `no line of ${name} could be read; the first ones: ${brokenLines.lines.slice(0, 3).join(', ')}. ` +
      '--format tells how to read it, --time where the time is',
    1,
  );
}

/** All runs over the same traffic, and what is counted once for all of them. */
class Scoreboard {
  readonly #options: ReplayOptions;
  readonly #redis: ReplayRedis | undefined;
  readonly #runs: readonly Run[];
  readonly #timeline: Timeline;
  readonly #spool: Spool | undefined;
  /** Read, but not decided yet. */
  #waiting: { batch: Batch; groups: Uint32Array }[] = [];
  #requestsByClient = new Uint32Array(1_024);
  #groupCounts: Uint32Array[] = [];

  constructor(options: ReplayOptions, redis: ReplayRedis | undefined) {
    this.#options = options;
    this.#redis = redis;
    this.#runs = options.limits.flatMap((limit) =>
      options.algorithms.map((algorithm) => {
        const judge = redis?.judge(algorithm, limit) ?? judgeFor(algorithm, limit, options.maxKeys);
        return new Run(algorithm, limit, judge);
      }),
    );
    this.#timeline = new Timeline(1 + this.#runs.length);
    this.#spool = options.suggestPercent === undefined ? undefined : new Spool();
    // Requests, then the denials of every run.
    this.#groupCounts = [undefined, ...this.#runs].map(() => new Uint32Array(1_024));
  }

  /** Takes requests that are behind all before; they are decided when `decideAll` is called. */
  feed(batch: Batch, groups: Uint32Array): void {
    this.#waiting.push({ batch, groups });
  }

  async decideAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await this.#decide(next.batch, next.groups);
    }
  }

  async #decide(batch: Batch, groups: Uint32Array): Promise<void> {
    this.#redis?.checkAge();
    for (const run of this.#runs) await run.feed(batch);
    this.#spool?.add(batch);
    for (let i = 0; i < batch.length; i++) {
      const client = batch.clients[i] as number;
      this.#requestsByClient = roomFor(this.#requestsByClient, client);
      this.#requestsByClient[client] = (this.#requestsByClient[client] as number) + 1;
      const time = batch.times[i] as number;
      this.#timeline.count(0, time);
      for (let run = 0; run < this.#runs.length; run++) {
        if (this.#runs[run]?.waits[i] !== 0) this.#timeline.count(run + 1, time);
      }
    }
    if (this.#options.fields.group !== undefined) this.#countGroups(batch, groups);
  }

  #countGroups(batch: Batch, groups: Uint32Array): void {
    const counts = this.#groupCounts;
    for (let i = 0; i < batch.length; i++) {
      const group = groups[i] as number;
      for (let column = 0; column < counts.length; column++) {
        if (column > 0 && this.#runs[column - 1]?.waits[i] === 0) continue;
        const grown = roomFor(counts[column] as Uint32Array, group);
        grown[group] = (grown[group] as number) + 1;
        counts[column] = grown;
      }
    }
  }

  results(traffic: TrafficBuilder): Pick<ReplayResult, 'results' | 'timeline' | 'distribution'> {
    const { startMs, widthMs, series } = this.#timeline.get();
    const [requests = [], ...denied] = series;
    return {
      results: this.#runs.map((run, index) => {
        const outcome = run.outcome();
        return {
          limit: outcome.limit.text,
          permits: outcome.limit.limit,
          windowMs: outcome.limit.windowMs,
          algorithm: outcome.algorithm,
          requests: outcome.requests,
          clients: outcome.clients,
          admitted: outcome.admitted,
          denied: outcome.denied,
          clientsEverDenied: outcome.clientsEverDenied,
          longestWaitMs: outcome.longestWaitMs,
          neverPass: outcome.neverPass,
          worstWindow: outcome.worstWindow,
          worstWindowRatio: outcome.worstWindow / outcome.limit.limit,
          memoryBytes: outcome.memoryBytes ?? null,
          decisionsPerSecond: outcome.decisionsPerSecond,
          overflowed: outcome.overflowed,
          mostDenied: this.#mostDenied(run, traffic.clientNames),
          groups: this.#groups(index, traffic.groupNames),
        };
      }),
      timeline: { startMs, widthMs, requests, denied },
      distribution: this.#distribution(traffic.clientNames.length),
    };
  }

  /**
   * The smallest limits for each window and algorithm. They are looked for in this process, with the arithmetic of Redis
   * where it decides.
   */
  suggestions(progress: Progress): Suggestion[] {
    const percent = this.#options.suggestPercent;
    const traffic = this.#spool;
    if (percent === undefined || traffic === undefined) return [];
    const windowStart = this.#redis === undefined ? 'since 1970' : 'first permit';
    const windows = [...new Set(this.#options.limits.map(({ windowMs }) => windowMs))];
    const pairs = windows.flatMap((windowMs) =>
      this.#options.algorithms.map((algorithm) => ({ windowMs, algorithm })),
    );
    return pairs.map(({ windowMs, algorithm }, index) => {
      const candidates = new Candidates(
        (limit) => judgeFor(algorithm, limit, Math.max(1, traffic.clients), windowStart),
        windowMs,
        traffic,
        (limit, done) => progress.show(`trying ${limit} with ${algorithm}`, done, traffic.requests),
      );
      candidates.tryGrid();
      const share = percent / 100;
      const ofRequests = candidates.smallest('denied', share * traffic.requests);
      const ofClients = candidates.smallest('clientsEverDenied', share * traffic.clients);
      if (index === pairs.length - 1) progress.clear();
      return {
        windowMs,
        algorithm,
        percent,
        ofRequests: ofRequests ?? null,
        ofClients: ofClients ?? null,
        tried: candidates.tried,
      };
    });
  }

  close(): void {
    for (const run of this.#runs) run.close();
    this.#spool?.close();
  }

  #mostDenied(run: Run, names: Names) {
    return top(this.#options.top, names.length, (client) => run.deniedOf(client)).map((client) => ({
      client: names.get(client),
      requests: this.#requestsByClient[client] as number,
      denied: run.deniedOf(client),
    }));
  }

  #groups(run: number, names: readonly string[]): GroupRow[] {
    const [requests, denied] = [this.#groupCounts[0], this.#groupCounts[run + 1]];
    const largest = top(
      this.#options.top,
      names.length,
      (group) => (denied?.[group] ?? 0) * 2 ** 32 + (requests?.[group] ?? 0),
    );
    return largest.map((group) => ({
      group: names[group] as string,
      requests: requests?.[group] ?? 0,
      denied: denied?.[group] ?? 0,
    }));
  }

  /** Clients by how many requests they made, each bin from a power of two to the next. */
  #distribution(clients: number): Distribution {
    const counts = this.#requestsByClient;
    let most = 1;
    for (let client = 0; client < clients; client++)
      most = Math.max(most, counts[client] as number);
    const bins = Math.floor(Math.log2(most)) + 1;
    const all = new Array<number>(bins).fill(0);
    const denied = this.#runs.map(() => new Array<number>(bins).fill(0));
    for (let client = 0; client < clients; client++) {
      const bin = 31 - Math.clz32(counts[client] as number);
      all[bin] = (all[bin] ?? 0) + 1;
      this.#runs.forEach((run, index) => {
        const row = denied[index] as number[];
        if (run.deniedOf(client) > 0) row[bin] = (row[bin] ?? 0) + 1;
      });
    }
    return { from: all.map((_, bin) => 2 ** bin), clients: all, clientsDenied: denied };
  }
}

/** The `count` numbers below `end` with the largest values above 0, largest first; of equal ones the smaller first. */
function top(count: number, end: number, measure: (index: number) => number): number[] {
  const best: number[] = [];
  for (let index = 0; index < end; index++) {
    const value = measure(index);
    if (value === 0 || count === 0) continue;
    if (best.length === count && value <= measure(best[count - 1] as number)) continue;
    const at = best.findIndex((other) => value > measure(other));
    best.splice(at < 0 ? best.length : at, 0, index);
    if (best.length > count) best.pop();
  }
  return best;
}
