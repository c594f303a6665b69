// What every worker here begins with.
import { workerData } from 'node:worker_threads';
import { ManualClock } from 'sluicegate/testing';

/** The limiter of `workerData.handle` on the clock of `workerData.clock`, from the package in `workerData.folder`. */
export async function join() {
  const { folder, handle, clock } = workerData;
  const { attach } = await import(folder === undefined ? 'sluicegate' : `${folder}index.js`);
  if (clock === undefined) return attach(handle);
  return attach(handle, { clock: new ManualClock(clock).now });
}

/** Looks this often before it goes to sleep: about as long as the others need to arrive, if they are running. */
const SPINS = 1_000;

/** A function that returns when all parties have called it, over two shared words. */
export function barrier(words, parties) {
  return () => {
    const turn = Atomics.load(words, 1);
    if (Atomics.add(words, 0, 1) === parties - 1) {
      Atomics.store(words, 0, 0);
      Atomics.store(words, 1, turn + 1);
      Atomics.notify(words, 1);
      return;
    }
    for (let i = 0; i < SPINS; i++) if (Atomics.load(words, 1) !== turn) return;
    while (Atomics.load(words, 1) === turn) Atomics.wait(words, 1, turn);
  };
}
