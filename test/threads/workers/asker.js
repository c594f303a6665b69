// Asks for one permit whenever it is sent a key, and says what it got and how long it took.
import { parentPort } from 'node:worker_threads';
import { join } from './join.js';

const limiter = await join();
parentPort.on('message', (key) => {
  const begun = performance.now();
  const decision = limiter.tryAcquire(key);
  parentPort.postMessage({ decision, ms: performance.now() - begun });
});
parentPort.postMessage('ready');
