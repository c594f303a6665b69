import { Worker } from 'node:worker_threads';
import type { Decision } from '../../index.ts';
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
  tallies(route: number): readonly Tally[];
  close(): Promise<void>;
}

/** Decides on the server's own thread. */
export function decideHere(routes: readonly DemoRoute[]): Deciders {
  const tallies = routes.map(() => [newTally('the server')]);
  return {
    async ask(route, client) {
      const decision = (routes[route] as DemoRoute).limiter.tryAcquire(client);
      return counted(tallies[route]?.[0] as Tally, decision);
    },
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
    tallies: (route) => tallies[route] ?? [],
    close: async () => {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

function newTally(decider: string): Tally {
  return { decider, allowed: 0, denied: 0 };
}

function counted(tally: Tally, decision: Decision): Answered {
  if (decision.allowed) tally.allowed += 1;
  else tally.denied += 1;
  return { decision, decider: tally.decider };
}
