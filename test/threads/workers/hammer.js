// Calls one key until told to stop, and says how far it has come.
import { parentPort, workerData } from 'node:worker_threads';
import { join } from './join.js';

const { control, calls, admitted, index } = workerData;
const limiter = await join();

while (Atomics.load(control, 0) === 0) {
  if (limiter.isAllowed('hot')) Atomics.add(admitted, 0, 1);
  Atomics.add(calls, index, 1);
}
parentPort.postMessage('done');
