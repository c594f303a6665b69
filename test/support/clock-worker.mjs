// Continues the clock of the thread that started it: reads it, moves it, reads it again.
import { parentPort, workerData } from 'node:worker_threads';
import { TokenBucketLimiter } from 'sluicegate';
import { ManualClock } from 'sluicegate/testing';

const clock = new ManualClock(workerData);
const limiter = new TokenBucketLimiter({ capacity: 1, refillPerSecond: 1, clock: clock.now });
limiter.isAllowed('ann');
const seen = clock.now();
clock.advance(999.999);
const early = limiter.isAllowed('ann');
clock.advance(0.001);
parentPort.postMessage({ seen, early, late: limiter.isAllowed('ann'), end: clock.now() });
