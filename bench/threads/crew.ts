import cluster from 'node:cluster';
import type { EventEmitter } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type LocalLimiter, TokenBucketLimiter } from '../../src/index.ts';
import type { Case, Order, Report, WorkerSetup } from './job.ts';

const SCRIPT = new URL('worker.js', import.meta.url);

/** Workers, wherever they are. */
export interface Crew {
  /** Gives all the same order and resolves with their reports. */
  order(order: Order): Promise<Report[]>;
  end(): void;
}

/** One worker. */
interface Member {
  tell(message: object): void;
  readonly said: EventEmitter;
  end(): void;
}

export interface Plan extends Case {
  readonly capacity: number;
}

export async function startCrew(plan: Plan): Promise<Crew> {
  const start = starter(plan);
  const members = Array.from({ length: plan.workers }, (_, share) => start(share));
  await Promise.all(members.map(reportOf));
  return {
    order: async (order) => {
      const reports = members.map(reportOf<Report>);
      for (const { tell } of members) tell(order);
      return await Promise.all(reports);
    },
    end: () => {
      for (const { end } of members) end();
    },
  };
}

function reportOf<T>({ said }: Member): Promise<T> {
  return new Promise((resolve, reject) => {
    const listener = ({ report }: { report?: T }) => {
      if (report === undefined) return;
      said.off('message', listener);
      said.off('error', reject);
      resolve(report);
    };
    said.on('message', listener);
    said.on('error', reject);
  });
}

/** What starts the worker of that number. */
function starter({ subject, workers, keys, own, capacity }: Plan): (share: number) => Member {
  const setup = { subject, keys, own, shares: workers, capacity };
  if (subject === 'cluster') return (share) => clusterWorker({ ...setup, share });
  if (subject === 'base') return (share) => thread({ ...setup, share });
  // Next to nothing comes back while the answers are checked.
  const refillPerSecond = capacity < 1e6 ? 1e-3 : 1;
  const shared = subject === 'shared';
  const limiter = new TokenBucketLimiter({ capacity, refillPerSecond, maxKeys: keys, shared });
  return (share) =>
    shared
      ? thread({ ...setup, share, handle: limiter.handle })
      : answered(thread({ ...setup, share }), limiter);
}

function thread(setup: WorkerSetup): Member {
  const worker = new Worker(SCRIPT, { workerData: setup });
  return {
    tell: (message) => worker.postMessage(message),
    said: worker,
    end: () => void worker.terminate(),
  };
}

/** Has its questions answered by a limiter of this thread. */
function answered(member: Member, limiter: LocalLimiter): Member {
  member.said.on('message', ({ question, key }: { question?: number; key: string }) => {
    if (question === undefined) return;
    member.tell({ answer: question, allowed: limiter.isAllowed(key) });
  });
  return member;
}

function clusterWorker(setup: WorkerSetup): Member {
  cluster.setupPrimary({ exec: fileURLToPath(SCRIPT), args: [JSON.stringify(setup)] });
  const worker = cluster.fork();
  return { tell: (message) => worker.send(message), said: worker, end: () => worker.kill() };
}
