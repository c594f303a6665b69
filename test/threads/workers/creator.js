// Makes a shared limiter, hands it over and is gone.
import { parentPort, workerData } from 'node:worker_threads';
import { ManualClock } from 'sluicegate/testing';

const { folder, kind, options, clock } = workerData;
const limiters = await import(folder === undefined ? 'sluicegate' : `${folder}index.js`);
const own = clock === undefined ? {} : { clock: new ManualClock(clock).now };
const limiter = new limiters[kind]({ ...options, shared: true, ...own });
parentPort.postMessage(limiter.handle);
