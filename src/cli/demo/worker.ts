import { parentPort, workerData } from 'node:worker_threads';
import { attach, type LimiterHandle } from '../../index.ts';

/** What the server asks a worker: may this client have one permit of that route? */
export interface Question {
  readonly id: number;
  readonly route: number;
  readonly client: string;
}

const limiters = (workerData as LimiterHandle[]).map((handle) => attach(handle));

parentPort?.on('message', ({ id, route, client }: Question) => {
  parentPort?.postMessage({ id, decision: limiters[route]?.tryAcquire(client) });
});
