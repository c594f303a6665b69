import type { Decision } from '../limiter.ts';
import { type Charge, tightest } from './charge.ts';

const STATE = Symbol('sluicegate.request');

const NONE: Charge[] = [];

/** What has been decided for one request, by all filters that it met. */
export class RequestState {
  charges: Charge[] = NONE;
  #last: object | undefined;
  #earlier: object[] | undefined;

  add(charge: Charge): void {
    // Most requests have one, and push makes room for seventeen.
    if (this.charges === NONE) this.charges = [charge];
    else this.charges.push(charge);
  }

  /** Whether the filter has had its turn; if not, it has it now. A filter mounted twice counts once. */
  hasMet(filter: object): boolean {
    if (this.#last === filter || this.#earlier?.includes(filter)) return true;
    if (this.#last !== undefined) {
      this.#earlier ??= [];
      this.#earlier.push(this.#last);
    }
    this.#last = filter;
    return false;
  }
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
