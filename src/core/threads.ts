import { isMainThread, threadId, type Worker } from 'node:worker_threads';

/** This thread as the owner of locks: never 0, never used again in this process. */
export const owner = ownerOf(threadId);

function ownerOf(id: number): number {
  return id + 1;
}

/** What is to be told of a thread's death. */
export interface Heir {
  bury(dead: number): void;
}

const heirs = new Set<WeakRef<Heir>>();
let listening = false;

/**
 * Has `heir` told whenever a worker that this thread starts from now on has ended, for as long as the heir lives.
 * Only the starting thread learns of it, so nobody is told twice; of workers started before, and of those whose own
 * starter has died, nobody is told. That costs nothing as long as no thread can die with a lock, which is how the table
 * is built: this is the second line of defence.
 */
export function inherit(heir: Heir): void {
  heirs.add(new WeakRef(heir));
  if (listening) return;
  listening = true;
  process.on('worker', (worker: Worker) => {
    const dead = ownerOf(worker.threadId); // by the time of its exit it reads -1
    worker.once('exit', () => buryAll(dead));
  });
}

function buryAll(dead: number): void {
  for (const reference of heirs) {
    const heir = reference.deref();
    if (heir === undefined) heirs.delete(reference);
    else heir.bury(dead);
  }
}

const napping = new Int32Array(new SharedArrayBuffer(4));

/** Gives the processor to the thread that is in the way. The main thread must never sleep: it goes on at once. */
export function nap(): void {
  if (!isMainThread) Atomics.wait(napping, 0, 0, 1);
}
