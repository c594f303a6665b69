// Random calls on more keys than the table has room for, while time goes on in whole steps. Counts what is admitted by
// key and step. A call during which time moved is not counted: nobody knows which step it belongs to.
import { parentPort, workerData } from 'node:worker_threads';
import { ManualClock } from 'sluicegate/testing';
import { barrier, join } from './join.js';
import { random } from './random.js';

const { clock: sharedClock, index, workers, meeting, control, counts } = workerData;
const { keys, hotKeys, resetKeys, steps } = workerData;
const limiter = await join();
const clock = new ManualClock(sharedClock);
const below = random(index + 1);
const meet = barrier(meeting, workers);
/** In a count: forget what was known of this key; see test/support/threads/ledger.ts. */
const DOUBT = 0x8000;

/** Calls of the timekeeper until the next step: sometimes few, so that keys expire, sometimes many. */
function stepLength() {
  return below(4) === 0 ? 4 + below(400) : 2 + below(20);
}

/** As if it had never been; unless time has moved, when it may have been taken off a later window's count. */
function giveBack(key, step, from) {
  limiter.refund(key);
  const last = Math.min(clock.now() - from, steps - 1);
  for (let doubtful = step + 1; doubtful <= last; doubtful++) {
    Atomics.or(counts, doubtful * keys + key, DOUBT);
  }
}

/** One call on `key`, and now and then another method's. */
function call(key, from) {
  const step = clock.now() - from;
  if (step >= steps) return;
  const chance = below(64);
  if (chance === 0 && key >= keys - resetKeys) limiter.reset(key);
  if (chance === 1) limiter.peek(key);
  if (!limiter.isAllowed(key)) return;
  if (chance === 2) return giveBack(key, step, from);
  if (clock.now() - from === step) Atomics.add(counts, step * keys + key, 1);
}

for (let round = 0; Atomics.load(control, 0) === 0; round++) {
  const from = round * steps;
  meet();
  let left = stepLength();
  while (clock.now() < from + steps) {
    call(below(2) === 0 ? below(hotKeys) : below(keys), from);
    if (index === 0 && --left === 0) {
      clock.advance(1);
      left = stepLength();
    }
  }
  parentPort.postMessage('round over');
  Atomics.wait(control, 1, round);
}
parentPort.postMessage('done');
