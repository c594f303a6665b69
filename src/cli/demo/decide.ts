import { Worker } from 'node:worker_threads';
import type { Decision, LocalLimiter } from '../../index.ts';
import { TieredLimiter } from '../../redis.ts';
import { importIoredis } from '../redis.ts';
import type { DemoRoute } from './routes.ts';
import type { Question } from './worker.ts';

/** Who decided, and how often each way. */
export interface Tally {
  readonly decider: string;
  allowed: number;
  denied: number;
}

export interface Answered {
  readonly decision: Decision;
  readonly decider: string;
}

/** Decides for the server: on its own thread, or over a pool of workers that share the limits. */
export interface Deciders {
  ask(route: number, client: string): Promise<Answered>;
  /** What the client has left, and when one more call would pass. */
  peek(route: number, client: string, cost: number): Promise<Decision>;
  tallies(route: number): readonly Tally[];
  close(): Promise<void>;
}

/** Decides on the server's own thread. */
export function decideHere(routes: readonly DemoRoute[]): Deciders {
  const tallies = routes.map(() => [newTally('the server')]);
  return {
    async ask(route, client) {
      const decision = limiterOf(routes, route).tryAcquire(client);
      return counted(tallies[route]?.[0] as Tally, decision);
    },
    peek: async (route, client, cost) => limiterOf(routes, route).peek(client, cost),
    tallies: (route) => tallies[route] ?? [],
    close: async () => {},
  };
}

/**
 * Decides over `count` workers in turn. Messages carry questions and answers; the limits are the same bytes in all
 * threads, so no worker tells another what it has let through.
 */
export function decideInWorkers(routes: readonly DemoRoute[], count: number): Deciders {
  const handles = routes.map(({ limiter }) => limiter.handle);
  const waiting = new Map<number, (decision: Decision) => void>();
  const workers = Array.from({ length: count }, () => {
    const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: handles });
    return worker.on('message', ({ id, decision }) => {
      waiting.get(id)?.(decision);
      waiting.delete(id);
    });
  });
  const tallies = routes.map(() => workers.map((_, i) => newTally(`worker ${i + 1}`)));
  let asked = 0;
  return {
    async ask(route, client) {
      const id = asked++;
      const turn = id % count;
      const question: Question = { id, route, client };
      const decision = await new Promise<Decision>((resolve) => {
        waiting.set(id, resolve);
        workers[turn]?.postMessage(question);
      });
      return counted(tallies[route]?.[turn] as Tally, decision);
    },
    peek: async (route, client, cost) => limiterOf(routes, route).peek(client, cost),
    tallies: (route) => tallies[route] ?? [],
    close: async () => {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

/**
 * Decides in Redis, so that any number of demo servers share the limits; while Redis is away, each falls back to its
 * own limiters in process. `source` in the answers tells which.
 */
export async function decideInRedis(routes: readonly DemoRoute[], url: string): Promise<Deciders> {
  const { Redis } = await importIoredis();
  const redis = new Redis(url);
  redis.on('error', () => {}); // told by onDegraded, once and not at every attempt
  const limiters = routes.map(
    ({ limiter, remote }) =>
      new TieredLimiter({
        remote: remote(redis),
        onFailure: 'fallback',
        fallback: limiter,
        onDegraded: () => console.error(`${limiter.policy.name}: Redis does not decide; fallback`),
        onRecovered: () => console.error(`${limiter.policy.name}: Redis decides again`),
      }),
  );
  const limiterAt = (route: number) => limiters[route] as TieredLimiter;
  const tallies = routes.map(() => [newTally('Redis')]);
  return {
    async ask(route, client) {
      const decision = await limiterAt(route).tryAcquire(client);
      return counted(tallies[route]?.[0] as Tally, decision);
    },
    peek: (route, client, cost) => limiterAt(route).peek(client, cost),
    tallies: (route) => tallies[route] ?? [],
    close: async () => {
      await Promise.all(limiters.map((limiter) => limiter.close()));
      redis.disconnect();
    },
  };
}

function limiterOf(routes: readonly DemoRoute[], route: number): LocalLimiter {
  return (routes[route] as DemoRoute).limiter;
}

function newTally(decider: string): Tally {
  return { decider, allowed: 0, denied: 0 };
}

function counted(tally: Tally, decision: Decision): Answered {
  if (decision.allowed) tally.allowed += 1;
  else tally.denied += 1;
  return { decision, decider: tally.decider };
}
