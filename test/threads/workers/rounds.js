// Rounds that all workers begin together: in each, every key of the round is called so many times by every worker.
import { parentPort, workerData } from 'node:worker_threads';
import { barrier, join } from './join.js';

const { rounds, keysPerRound, callsPerKey, meeting, workers, counts, text, own, index } =
  workerData;
const limiter = await join();
const meet = barrier(meeting, workers);
// Own keys: no key is another worker's, too.
const first = own ? index * rounds * keysPerRound : 0;

for (let round = 0; round < rounds; round++) {
  const from = first + round * keysPerRound;
  meet();
  for (let call = 0; call < callsPerKey; call++) {
    for (let key = from; key < from + keysPerRound; key++) {
      const name = text ? `${key}`.padStart(1 + (key % 200), 'x') : key;
      if (limiter.isAllowed(name)) Atomics.add(counts, key, 1);
    }
  }
}
parentPort.postMessage('done');
