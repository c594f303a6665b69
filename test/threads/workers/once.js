// Asks once about one key, spending nothing, between two readings of the process's clock.
import { parentPort, workerData } from 'node:worker_threads';
import { join } from './join.js';

const limiter = await join();
const before = process.hrtime.bigint();
const decision = limiter.peek(workerData.key);
const after = process.hrtime.bigint();
parentPort.postMessage({ decision, before, after });
