import type { Decision } from '../limiter.ts';
import { type Charge, tightest } from './charge.ts';

const STATE = Symbol('sluicegate.request');

/** What has been decided for one request, by all filters that it met. */
export class RequestState {
  /** Filters that have had their turn: a filter mounted twice counts once. */
  readonly met: object[] = [];
  readonly charges: Charge[] = [];
}

/** An object that lives as long as the request: Node's IncomingMessage, a Request, Hono's context. */
export type Carrier = object & { [STATE]?: RequestState };

// A property, not a WeakMap: those cost more than the decision, and the collector walks them.
export function stateOf(carrier: Carrier): RequestState {
  let state = carrier[STATE];
  if (state === undefined) {
    state = new RequestState();
    carrier[STATE] = state;
  }
  return state;
}

/** What was decided for the request: the denial, else the decision with the least left; undefined if nothing was. */
export function decisionOf(carrier: Carrier): Decision | undefined {
  const state = carrier[STATE];
  return state === undefined ? undefined : tightest(state.charges)?.decision;
}

/** How many decisions were made for the request so far. */
export function decisionCount(carrier: Carrier): number {
  return carrier[STATE]?.charges.length ?? 0;
}
