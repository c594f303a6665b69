// Rounds that all workers begin together: in each, every key of the round is called so many times by every worker.
import { parentPort, workerData } from 'node:worker_threads';
import { barrier, join } from './join.js';

const { rounds, keysPerRound, callsPerKey, meeting, workers, counts, text, own, batch, index } =
  workerData;
const limiter = await join();
const meet = barrier(meeting, workers);
// Own keys: no key is another worker's, too.
const first = own ? index * rounds * keysPerRound : 0;

for (let round = 0; round < rounds; round++) {
  const from = first + round * keysPerRound;
  meet();
  for (let call = 0; call < callsPerKey; call++) {
    if (batch) callTogether(from);
    else callInTurn(from);
  }
}
parentPort.postMessage('done');

function callInTurn(from) {
  for (let key = from; key < from + keysPerRound; key++) {
    const name = text ? `${key}`.padStart(1 + (key % 200), 'x') : key;
    if (limiter.isAllowed(name)) Atomics.add(counts, key, 1);
  }
}

function callTogether(from) {
  const keys = Array.from({ length: keysPerRound * batch }, (_, i) => from + (i % keysPerRound));
  const out = new Uint8Array(keys.length);
  limiter.isAllowedMany(keys, out);
  for (const [i, key] of keys.entries()) Atomics.add(counts, key, out[i]);
}
