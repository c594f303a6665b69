// Calls without end, to be terminated at any moment; or until told to stop, if it is to survive. Counts each call that
// is admitted at once, so that at most one is lost with a victim. Bundled into one file, which halves its start.
import { parentPort, workerData } from 'node:worker_threads';
import { attach } from 'sluicegate';
import { ManualClock } from 'sluicegate/testing';
import { random } from './random.js';

const { handle, clock, mode, admitted, keys, control, seed, survives } = workerData;
const limiter = attach(handle, { clock: new ManualClock(clock).now });
const below = random(seed);
const STOP = 0;
const NEXT_KEY = 1;
const LONGEST_US = 2;
const PAUSE_EVERY = 200;

function call(key) {
  if (limiter.isAllowed(key)) Atomics.add(admitted, key, 1);
}

const modes = {
  /** Keys that have their slots. */
  update: () => call(below(keys)),
  /** Keys that nobody has called before, and some that another has at the same time. */
  insert: () => {
    const key = Atomics.add(control, NEXT_KEY, 1);
    if (key >= keys) return call(below(keys));
    call(key);
    return call(Math.max(0, key - below(4)));
  },
};

/** Leaves the victims room, and looks at how long its calls take. */
function survive(step) {
  for (let calls = 1; Atomics.load(control, STOP) === 0; calls++) {
    const begun = performance.now();
    step();
    const us = Math.round((performance.now() - begun) * 1_000);
    if (us > Atomics.load(control, LONGEST_US)) Atomics.store(control, LONGEST_US, us);
    if (calls % PAUSE_EVERY === 0) Atomics.wait(control, STOP, 0, 1);
  }
}

const step = modes[mode];
step();
parentPort.postMessage('running');
if (survives) survive(step);
else for (;;) step();
parentPort.postMessage('done');
