import { SluicegateRangeError, SluicegateTypeError } from '../errors.ts';
import type { Decision, Key } from '../limiter.ts';
import { checkCost, checkKey } from '../options.ts';
import { type Charge, type Gate, isUncounted } from './charge.ts';
import { requestContext } from './context.ts';
import { type Awaitable, isPromise, type RequestFacts } from './facts.ts';
import { FaultDesk } from './faults.ts';
import { HeaderWriter } from './headers.ts';
import { byIp, type KeyOf } from './keys.ts';
import { checkHttpOptions, type FilterOptions, type Limited } from './options.ts';
import { type Rule, rulesOf } from './rules.ts';
import { type Carrier, type RequestState, stateOf } from './state.ts';
import { denial, PASS, unavailable, type Verdict } from './verdict.ts';

/** One request on its way through one filter: who pays what to whom. */
interface Turn<Request> {
  readonly gates: readonly Gate[];
  readonly key: Key;
  readonly cost: number;
  readonly request: Request;
  readonly facts: RequestFacts;
  readonly state: RequestState;
  /** The filter's own among the state's charges start here. */
  readonly first: number;
}

/**
 * Turns facts of a request into a verdict. All that is synchronous is decided synchronously: without a promise from a
 * limiter or from one of the app's functions none is made here either.
 */
export class HttpFilter<Request> {
  readonly #options: FilterOptions<Request>;
  readonly #rules: readonly Rule<Request>[];
  readonly #key: KeyOf<Request>;
  readonly #writer: HeaderWriter;
  readonly #refunds: ((status: number) => boolean) | undefined;
  readonly #enforce: boolean;
  readonly #faults: FaultDesk<Request>;

  /** @throws SluicegateTypeError, SluicegateRangeError for options that are wrong, before the first request. */
  constructor(options: FilterOptions<Request>) {
    checkHttpOptions(options);
    this.#options = options;
    this.#key = options.key ?? byIp();
    this.#rules = rulesOf(options, this.#key);
    this.#writer = new HeaderWriter(options.headers ?? 'ietf');
    this.#refunds = refundRule(options.refund);
    this.#enforce = options.enforce ?? true;
    this.#faults = new FaultDesk(options.onError, this.#enforce);
  }

  /** Decides. `carrier` lives as long as the request and is the same for all filters that it meets. */
  check(request: Request, facts: RequestFacts, carrier: Carrier): Awaitable<Verdict> {
    const state = stateOf(carrier);
    if (state.hasMet(this)) return PASS;
    let turn: Awaitable<Turn<Request> | undefined>;
    try {
      turn = this.#turn(request, facts, state);
    } catch (error) {
      return this.#undecided(error, request, facts, state);
    }
    if (turn === undefined) return PASS;
    if (!('then' in turn)) return this.#pass(turn, 0);
    return turn.then(
      (made) => (made === undefined ? PASS : this.#pass(made, 0)),
      (error) => this.#undecided(error, request, facts, state),
    );
  }

  /** Runs what follows the filter, with the async context for `@RateLimit` if that was asked for. */
  follow<Result>(request: Request, facts: RequestFacts, next: () => Result): Result {
    if (this.#options.context !== true) return next();
    return requestContext.run({ key: () => textKey(this.#key(request, facts)) }, next);
  }

  /** Undefined for a request that is not limited. */
  #turn(
    request: Request,
    facts: RequestFacts,
    state: RequestState,
  ): Awaitable<Turn<Request> | undefined> {
    const { skip } = this.#options;
    if (skip === undefined) return this.#payment(request, facts, state);
    const skipped = skip(request, facts);
    if (isPromise(skipped)) {
      return skipped.then((yes) => (yes ? undefined : this.#payment(request, facts, state)));
    }
    return skipped ? undefined : this.#payment(request, facts, state);
  }

  #payment(
    request: Request,
    facts: RequestFacts,
    state: RequestState,
  ): Awaitable<Turn<Request> | undefined> {
    const rule = this.#ruleFor(facts);
    if (rule === undefined) return undefined;
    const { cost = 1 } = this.#options;
    const gates = typeof rule.gates === 'function' ? rule.gates(request, facts) : rule.gates;
    const key = rule.key(request, facts);
    const price = typeof cost === 'function' ? cost(request, facts) : cost;
    if (isPromise(gates) || isPromise(key) || isPromise(price)) {
      return Promise.all([gates, key, price]).then(([g, k, p]) =>
        turnOf(g, k, p, request, facts, state),
      );
    }
    return turnOf(gates, key, price, request, facts, state);
  }

  #ruleFor(facts: RequestFacts): Rule<Request> | undefined {
    for (const rule of this.#rules) {
      if (rule.matches === undefined || rule.matches(facts)) return rule;
    }
    return undefined;
  }

  /** Asks the gates in order, from one on. */
  #pass(turn: Turn<Request>, from: number): Awaitable<Verdict> {
    for (let i = from; i < turn.gates.length; i++) {
      const stopped = this.#ask(turn, turn.gates[i] as Gate);
      if (stopped === undefined) continue;
      if (!('then' in stopped)) return stopped;
      return stopped.then((verdict) => verdict ?? this.#pass(turn, i + 1));
    }
    const { charges } = turn.state;
    const settle = this.#refunds === undefined ? undefined : this.#settler(turn);
    return { allowed: true, status: 200, headers: this.#writer.write(charges), body: '', settle };
  }

  /** A verdict if the request ends here. */
  #ask(turn: Turn<Request>, gate: Gate): Awaitable<Verdict | undefined> {
    let decision: Awaitable<Decision>;
    let later: boolean;
    try {
      decision = gate.limiter.tryAcquire(turn.key, turn.cost);
      later = 'then' in decision;
    } catch (error) {
      return this.#unanswered(turn, gate, error);
    }
    if (!later) return this.#take(turn, gate, decision as Decision);
    return (decision as PromiseLike<Decision>).then(
      (made) => this.#take(turn, gate, made),
      (error) => this.#unanswered(turn, gate, error),
    );
  }

  #take(turn: Turn<Request>, gate: Gate, decision: Decision): Awaitable<Verdict | undefined> {
    const { key, cost } = turn;
    turn.state.add({ gate, key, cost, decision });
    if (decision.allowed) return undefined;
    const refunded = this.#undo(turn);
    if (isPromise(refunded)) return refunded.then(() => this.#deny(turn, gate, decision));
    return this.#deny(turn, gate, decision);
  }

  #deny(turn: Turn<Request>, gate: Gate, decision: Decision): Verdict {
    const { request, facts } = turn;
    const { charges } = turn.state;
    const { body, status = 429, onLimited } = this.#options;
    // The failure policy of a tier: nobody is over a limit.
    const closed = decision.source === 'closed';
    const limited: Limited = {
      decision,
      policy: { ...gate.limiter.policy, name: gate.name },
      status: closed ? 503 : status,
      enforced: this.#enforce,
      facts,
    };
    if (!closed) this.#faults.guarded(() => onLimited?.(limited, request), request, facts);
    if (!this.#enforce) return { ...PASS, headers: this.#writer.write(charges) };
    if (closed) return unavailable(charges, this.#writer, bodyWord(body));
    const answer = () => denial(limited, charges, this.#writer, body, request);
    const made = this.#faults.guarded(answer, request, facts) as Verdict | undefined;
    return made ?? denial(limited, charges, this.#writer, undefined, request);
  }

  /** Gives back what the gates before a denial took, so that a list charges all or nothing. */
  #undo(turn: Turn<Request>): Awaitable<unknown> {
    const { charges } = turn.state;
    let pending: Awaitable<unknown>;
    for (let i = turn.first; i < charges.length; i++) {
      const charge = charges[i] as Charge;
      if (!charge.decision.allowed) continue;
      const refunded = this.#refund(turn, charge);
      charges[i] = { ...charge, decision: refundedDecision(charge) };
      if (isPromise(refunded))
        pending = isPromise(pending) ? pending.then(() => refunded) : refunded;
    }
    return pending;
  }

  /** Never throws or rejects: a refund that fails is reported, and the permits come back with time. */
  #refund({ request, facts }: Turn<Request>, { gate, key, cost, decision }: Charge) {
    if (isUncounted(decision)) return undefined;
    return this.#faults.guarded(() => gate.limiter.refund(key, cost), request, facts);
  }

  #settler(turn: Turn<Request>): ((status: number) => void) | undefined {
    const refunds = this.#refunds;
    const mine = turn.state.charges
      .slice(turn.first)
      .filter((charge) => !isUncounted(charge.decision));
    if (refunds === undefined || mine.length === 0) return undefined;
    let settled = false;
    return (status) => {
      if (settled) return;
      settled = true;
      const due = this.#faults.guarded(() => refunds(status), turn.request, turn.facts);
      if (due === true) for (const charge of mine) this.#refund(turn, charge);
    };
  }

  /** A limiter that could not answer. If that opens the gate, the ones behind it are asked all the same. */
  #unanswered(turn: Turn<Request>, gate: Gate, error: unknown): Awaitable<Verdict | undefined> {
    const { key, cost, request, facts, state } = turn;
    const { policy } = gate.limiter;
    if (this.#faults.policy(error, isMisuse(error), request, facts) === 'open') {
      state.add({ gate, key, cost, decision: openDecision(policy.limit) });
      return undefined;
    }
    const refunded = this.#undo(turn);
    const answer = () => unavailable(state.charges, this.#writer, bodyWord(this.#options.body));
    return isPromise(refunded) ? refunded.then(answer) : answer();
  }

  /** A request whose limiter, key or cost nobody knows. */
  #undecided(
    error: unknown,
    request: Request,
    facts: RequestFacts,
    { charges }: RequestState,
  ): Verdict {
    if (this.#faults.policy(error, true, request, facts) === 'open') {
      return { ...PASS, headers: this.#writer.write(charges) };
    }
    return unavailable(charges, this.#writer, bodyWord(this.#options.body));
  }
}

function turnOf<Request>(
  gates: readonly Gate[],
  key: Key,
  cost: number,
  request: Request,
  facts: RequestFacts,
  state: RequestState,
): Turn<Request> {
  if (cost !== 1) checkCost(cost);
  const text = textKey(key) as Key;
  return { gates, key: text, cost, request, facts, state, first: state.charges.length };
}

/** Numbers become strings, so that a user 42 from a session and '42' from a path are one user. */
function textKey(key: Awaitable<Key>): Awaitable<Key> {
  if (typeof key === 'string' && key !== '') return key;
  if (isPromise(key)) return key.then(textKey);
  checkKey(key);
  return typeof key === 'number' ? String(key) : key;
}

function refundRule(refund: FilterOptions['refund']): ((status: number) => boolean) | undefined {
  if (refund === 'failed') return (status) => status >= 400;
  if (refund === 'successful') return (status) => status < 400;
  return refund;
}

function isMisuse(error: unknown): boolean {
  return error instanceof SluicegateTypeError || error instanceof SluicegateRangeError;
}

function bodyWord(body: FilterOptions['body'] | unknown): 'problem+json' | 'json' {
  return body === 'json' ? 'json' : 'problem+json';
}

function openDecision(limit: number): Decision {
  return {
    allowed: true,
    limit,
    remaining: 0,
    retryAfterMs: 0,
    retryAfterSeconds: 0,
    resetAfterMs: 0,
    source: 'open',
  };
}

/** What was left before the charge; the time until the key is as new is at most what it was. */
function refundedDecision({ gate, cost, decision }: Charge): Decision {
  if (isUncounted(decision)) return decision;
  return { ...decision, remaining: Math.min(gate.limiter.policy.limit, decision.remaining + cost) };
}
