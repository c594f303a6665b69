import { arrivalOrder } from '../arrivals.ts';
import { freshStrings } from '../keys.ts';
import type { Arriving, Order, Report } from './job.ts';

/** The two ways to be answered. */
export type Ask =
  | { readonly now: (key: string) => boolean }
  | {
      readonly later: (key: string) => Promise<boolean>;
      /** Questions on their way at once. */
      readonly inFlight: number;
    };

/** Keys as they arrive, without end. */
export interface Keys {
  readonly next: () => string;
  /** The same for everybody. */
  readonly first: string;
}

/** Calls between two looks at the time. */
const BATCH = 500;

/**
 * A million arrivals over and over: each of the keys equally often, in random order, as strings that nobody has seen yet.
 * Workers begin in different places. With `share` of `shares` each has its own part of the keys.
 */
export function keysOf({ keys, share, shares, own }: Arriving): Keys {
  const order = arrivalOrder({
    arrivals: 'uniform',
    live: own ? keys / shares : keys,
    limiters: 1,
  });
  const mine = own ? order.map((key) => key * shares + share) : order;
  const { at, length } = freshStrings(mine);
  let arrival = Math.floor((length / shares) * share);
  const next = () => {
    arrival = arrival + 1 === length ? 0 : arrival + 1;
    return at(arrival) as string;
  };
  return { next, first: 'checked' };
}

export async function follow(order: Order, ask: Ask, keys: Keys): Promise<Report> {
  if (order.order === 'check') return await checked(order.calls, ask, keys.first);
  return 'now' in ask ? runNow(order.ms, ask.now, keys) : await runLater(order.ms, ask, keys);
}

async function checked(calls: number, ask: Ask, key: string): Promise<Report> {
  let allowed = 0;
  for (let i = 0; i < calls; i++) {
    if ('now' in ask ? ask.now(key) : await ask.later(key)) allowed++;
  }
  return { calls, allowed, ms: 0 };
}

function runNow(ms: number, ask: (key: string) => boolean, { next }: Keys): Report {
  const begun = performance.now();
  let calls = 0;
  let allowed = 0;
  let passed = 0;
  do {
    for (let i = 0; i < BATCH; i++) if (ask(next())) allowed++;
    calls += BATCH;
    passed = performance.now() - begun;
  } while (passed < ms);
  return { calls, allowed, ms: passed };
}

async function runLater(
  ms: number,
  { later, inFlight }: Extract<Ask, { later: unknown }>,
  { next }: Keys,
): Promise<Report> {
  const begun = performance.now();
  let calls = 0;
  let allowed = 0;
  const chain = async () => {
    while (performance.now() - begun < ms) {
      if (await later(next())) allowed++;
      calls++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, chain));
  return { calls, allowed, ms: performance.now() - begun };
}
