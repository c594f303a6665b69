// Attaches to a handle, from workerData or by message, spends some permits and says what it sees; or what went wrong.
import { parentPort, workerData } from 'node:worker_threads';
import { attach } from 'sluicegate';
import { ManualClock } from 'sluicegate/testing';

function report({ handle, clock, calls = 0 }) {
  try {
    const options = clock === undefined ? {} : { clock: new ManualClock(clock).now };
    const limiter = attach(handle, options);
    const allowed = Array.from({ length: calls }, () => limiter.isAllowed('key'));
    const answer = { policy: limiter.policy, allowed, stats: limiter.stats() };
    limiter.close();
    return answer;
  } catch ({ name, code, message }) {
    return { error: { name, code, message } };
  }
}

if (workerData?.handle !== undefined) parentPort.postMessage(report(workerData));
parentPort.on('message', (message) => parentPort.postMessage(report(message)));
