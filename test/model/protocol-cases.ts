// Each protection of the protocol, and a program that goes wrong without it.

import type { Call } from './protocol-oracle.ts';
import {
  type ModelPolicy,
  modelBucket,
  modelCounter,
  type PolicyFlaws,
} from './protocol-policies.ts';
import { A, B, C, call, EARLY } from './protocol-programs.ts';
import type { Protection } from './protocol-table.ts';

export const acquire = (tag: number, now: number, cost = 1) => call('acquire', tag, now, cost);
export const reset = (tag: number, now: number) => call('reset', tag, now);
const refund = (tag: number, now: number) => call('refund', tag, now);
const peek = (tag: number, now: number) => call('peek', tag, now);

export type Policy = (without?: PolicyFlaws) => ModelPolicy;
export const bucket: Policy = (without) => modelBucket(1, 1, without);
const bucketOf2: Policy = (without) => modelBucket(2, 1, without);
export const counter: Policy = (without) => modelCounter(1, 1, without);
const counterOf2: Policy = (without) => modelCounter(2, 1, without);

export const EXCESS = /was given \d permits where \d were due/;
const UNEXPLAINED = /no order of the calls on key \d gives these answers/;
const TWICE = /key \d is in two slots/;

export interface Case {
  readonly without: Protection | keyof PolicyFlaws;
  readonly policy: Policy;
  readonly before: readonly Call[];
  readonly threads: readonly (readonly Call[])[];
  readonly fault: RegExp;
}

export const used = [acquire(A, EARLY)];
/** A's slot goes to B, is as new again at once, and comes back to A. */
const thereAndBack = (tag: number, late: number, later: number) => [
  acquire(tag, late, 2),
  reset(tag, late),
  acquire(A, later),
];

export const CASES: readonly Case[] = [
  // A call that found A's slot charges B, who has it now; A then has a fresh budget.
  {
    without: 'second tag read',
    policy: bucket,
    before: used,
    threads: [[acquire(A, 1), acquire(A, 1)], [acquire(B, 1)]],
    fault: UNEXPLAINED,
  },
  {
    without: 'second tag read',
    policy: counter,
    before: used,
    threads: [[acquire(A, 2), acquire(A, 2)], [acquire(B, 2)]],
    fault: UNEXPLAINED,
  },
  // A call reads A's tag, B's state and A's tag, and denies A what only B has spent.
  {
    without: 'denial re-read',
    policy: bucketOf2,
    before: used,
    threads: [[acquire(A, 2)], thereAndBack(B, 2, 2)],
    fault: UNEXPLAINED,
  },
  {
    without: 'denial re-read',
    policy: counterOf2,
    before: used,
    threads: [[acquire(A, 3)], thereAndBack(B, 2, 3)],
    fault: UNEXPLAINED,
  },
  {
    without: 'peek re-read',
    policy: bucketOf2,
    before: used,
    threads: [[peek(A, 2)], thereAndBack(B, 2, 2)],
    fault: UNEXPLAINED,
  },
  {
    without: 'peek re-read',
    policy: counterOf2,
    before: used,
    threads: [[peek(A, 3)], thereAndBack(B, 2, 3)],
    fault: UNEXPLAINED,
  },
  // B evicts A late, and an early call takes A for one that was never there.
  {
    without: 'horizon raise',
    policy: bucket,
    before: used,
    threads: [[acquire(A, EARLY)], [acquire(B, 1), acquire(A, 1)]],
    fault: UNEXPLAINED,
  },
  {
    without: 'horizon raise',
    policy: counter,
    before: used,
    threads: [[acquire(A, EARLY)], [acquire(B, 2), acquire(A, 2)]],
    fault: UNEXPLAINED,
  },
  {
    without: 'horizon check',
    policy: bucket,
    before: used,
    threads: [[acquire(A, EARLY)], [acquire(B, 1), acquire(A, 1)]],
    fault: UNEXPLAINED,
  },
  {
    without: 'horizon check',
    policy: counter,
    before: used,
    threads: [[acquire(A, EARLY)], [acquire(B, 2), acquire(A, 2)]],
    fault: UNEXPLAINED,
  },
  // Two calls that both missed A both insert it.
  {
    without: 'lock sequence',
    policy: bucket,
    before: [],
    threads: [[acquire(A, EARLY)], [acquire(A, EARLY)]],
    fault: TWICE,
  },
  {
    without: 'lock sequence',
    policy: counter,
    before: [],
    threads: [[acquire(A, EARLY)], [acquire(A, EARLY)]],
    fault: TWICE,
  },
  // A is charged to its cell after another call for A has read it, which then finds a slot.
  {
    without: 'overflow under the lock',
    policy: bucket,
    before: [acquire(B, 1), acquire(C, 1)],
    threads: [[acquire(A, 1)], [acquire(A, 1), reset(B, 1)]],
    fault: EXCESS,
  },
  {
    without: 'overflow under the lock',
    policy: counter,
    before: [acquire(B, 1), acquire(C, 1)],
    threads: [[acquire(A, 3)], [acquire(A, 2)]],
    fault: EXCESS,
  },
  // A call charges what is about to be overwritten.
  {
    without: 'frozen is nobody’s',
    policy: bucket,
    before: [],
    threads: [[acquire(A, EARLY)], [acquire(A, EARLY)]],
    fault: UNEXPLAINED,
  },
  {
    without: 'frozen is nobody’s',
    policy: counter,
    before: [],
    threads: [[acquire(A, EARLY)], [acquire(A, EARLY)]],
    fault: UNEXPLAINED,
  },
  // Two keys are put into one slot.
  {
    without: 'frozen is not free',
    policy: bucket,
    before: [],
    threads: [[acquire(A, EARLY), acquire(A, EARLY)], [acquire(B, EARLY)]],
    fault: EXCESS,
  },
  {
    without: 'frozen is not free',
    policy: counter,
    before: [],
    threads: [[acquire(A, EARLY), acquire(A, EARLY)], [acquire(B, EARLY)]],
    fault: EXCESS,
  },
  // A's state comes back as B's, and a swap meant for A charges B.
  {
    without: 'keyCount',
    policy: bucket,
    before: used,
    threads: [
      [acquire(A, 1), acquire(A, 1)],
      [acquire(B, 1), refund(B, 1)],
    ],
    fault: EXCESS,
  },
  {
    without: 'windowIndex',
    policy: counter,
    before: [acquire(A, 0), reset(A, 0)],
    threads: [
      [acquire(A, 0), acquire(A, 0)],
      [acquire(B, 0), refund(B, 0)],
    ],
    fault: EXCESS,
  },
];
