import { describe, expect, it } from 'vitest';
import { SlidingWindowCounterLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/testing.ts';
import { modelFixedWindow } from '../model/fixed-window.ts';
import { modelSlidingWindowLog } from '../model/sliding-window-log.ts';
import { type Request, readTrace, worstWindow } from '../support/trace.ts';

/** What was measured: requests allowed by each algorithm, percent of answers that differ from the exact log's, worst windows. */
interface Measured {
  readonly log: number;
  readonly fixed: number;
  readonly counter: number;
  readonly fixedWrong: number;
  readonly counterWrong: number;
  readonly fixedWorst?: number;
  readonly counterWorst?: number;
}

const TRACES: [string, number, number, Measured][] = [
  [
    'nasa-19950801',
    100,
    60,
    {
      log: 30_969,
      fixed: 30_969,
      fixedWrong: 0,
      counter: 30_969,
      counterWrong: 0,
      counterWorst: 29,
    },
  ],
  [
    'nasa-19950801',
    20,
    60,
    { log: 30_927, fixed: 30_950, fixedWrong: 0.107, counter: 30_936, counterWrong: 0.061 },
  ],
  [
    'nasa-19950801',
    5,
    10,
    { log: 29_073, fixed: 29_862, fixedWrong: 2.77, counter: 28_957, counterWrong: 1.31 },
  ],
  [
    'wikimedia-20150912',
    20,
    60,
    { log: 39_241, fixed: 39_243, fixedWrong: 0.01, counter: 39_241, counterWrong: 0.01 },
  ],
  [
    'elastic-apache-2015',
    20,
    10,
    {
      ...{ log: 9_988, fixed: 9_995, fixedWrong: 0.09, fixedWorst: 25 },
      ...{ counter: 9_988, counterWrong: 0.16, counterWorst: 22 },
    },
  ],
  [
    'wrccdc-dns-tls',
    100,
    60,
    {
      ...{ log: 34_061, fixed: 35_154, fixedWrong: 6.32, fixedWorst: 200 },
      ...{ counter: 33_965, counterWrong: 5.99, counterWorst: 172 },
    },
  ],
  [
    'wrccdc-dns-tls',
    20,
    10,
    {
      ...{ log: 28_049, fixed: 30_033, fixedWrong: 5.92, fixedWorst: 40 },
      ...{ counter: 28_288, counterWrong: 4.59, counterWorst: 38 },
    },
  ],
  [
    'azure-llm-2023',
    100,
    60,
    {
      ...{ log: 8_905, fixed: 9_779, fixedWrong: 42.9, fixedWorst: 200 },
      ...{ counter: 9_117, counterWrong: 29, counterWorst: 171 },
    },
  ],
  [
    'azure-llm-2023',
    20,
    10,
    {
      ...{ log: 9_068, fixed: 9_784, fixedWrong: 37.6, fixedWorst: 40 },
      ...{ counter: 8_908, counterWrong: 28.6, counterWorst: 35 },
    },
  ],
];

type Replayed = Pick<SlidingWindowCounterLimiter, 'isAllowed'>;

/** Which requests pass. */
function replay(trace: readonly Request[], make: (clock: () => number) => Replayed): boolean[] {
  const clock = new ManualClock();
  const limiter = make(clock.now);
  return trace.map(({ ms, client }) => {
    clock.set(ms);
    return limiter.isAllowed(client);
  });
}

/** Percent of answers that differ, to as many digits as `like` has. */
function wrongPercent(answers: boolean[], exact: boolean[], like: number): number {
  const wrong = answers.filter((allowed, i) => allowed !== exact[i]).length;
  const digits = `${like}`.split('.')[1]?.length ?? 0;
  return Number(((wrong / answers.length) * 100).toFixed(digits));
}

describe.each(TRACES)('%s at %d per %d s', (name, limit, seconds, measured) => {
  const trace = readTrace(name);
  const windowMs = seconds * 1_000;
  const policy = { limit, windowMs };
  const log = replay(trace, (clock) => modelSlidingWindowLog(policy, clock));
  const passed = (answers: boolean[]) => trace.filter((_, i) => answers[i]);

  it(`passes ${measured.counter} requests of the counter in WebAssembly`, () => {
    const counter = replay(trace, (clock) => new SlidingWindowCounterLimiter({ ...policy, clock }));
    expect(passed(counter)).toHaveLength(measured.counter);
    expect(wrongPercent(counter, log, measured.counterWrong)).toBe(measured.counterWrong);
    const worst = worstWindow(passed(counter), windowMs);
    expect(worst).toBe(measured.counterWorst ?? worst);
    expect(worst).toBeLessThan(2 * limit);
  });

  it(`passes ${measured.log} requests of the exact log`, () => {
    expect(passed(log)).toHaveLength(measured.log);
    expect(worstWindow(passed(log), windowMs)).toBeLessThanOrEqual(limit);
  });

  it(`passes ${measured.fixed} requests of a fixed window`, () => {
    const fixed = replay(trace, (clock) => modelFixedWindow(policy, clock));
    expect(passed(fixed)).toHaveLength(measured.fixed);
    expect(wrongPercent(fixed, log, measured.fixedWrong)).toBe(measured.fixedWrong);
    const worst = worstWindow(passed(fixed), windowMs);
    expect(worst).toBe(measured.fixedWorst ?? worst);
  });
});
