import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const folder = new URL('../../threads/workers/', import.meta.url);

/** Starts one of test/threads/workers. */
export function startWorker(script: string, workerData: unknown): Worker {
  return new Worker(new URL(script, folder), { workerData });
}

/** Resolves with the worker's next message; rejects when it fails or ends without one. */
export async function messageOf<T>(worker: Worker): Promise<T> {
  const ending = new AbortController();
  const { signal } = ending;
  try {
    return (await Promise.race([
      once(worker, 'message', { signal }).then(([message]) => message),
      once(worker, 'exit', { signal }).then(([code]) => {
        throw new Error(`the worker ended with code ${code} and said nothing`);
      }),
    ])) as T;
  } finally {
    ending.abort();
  }
}

/** Starts `count` workers, each with its number as `index`, and resolves with what each says. */
export async function crew<T>(script: string, count: number, data: object): Promise<T[]> {
  const workers = Array.from({ length: count }, (_, index) =>
    startWorker(script, { ...data, index, workers: count }),
  );
  try {
    return await Promise.all(workers.map((worker) => messageOf<T>(worker)));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

/** Resolves when the condition holds; looks again and again, so that the event loop stays free. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Words that threads share. */
export function sharedWords(count: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4 * count));
}
