import type { Argument, ScriptCall } from '../../src/redis/commands.ts';
import { Account, type Admission } from './account.ts';
import type { Execution, Witness } from './network.ts';
import type { Setting } from './settings.ts';

/** What a caller was told. */
export interface Told {
  readonly key: string;
  readonly cost: number;
  readonly source: string;
  readonly startUs: number;
}

interface Step {
  readonly key: string;
  readonly op: Argument;
  readonly cost: number;
  readonly stamp: number;
}

/** Keeps the books of all processes, from what goes over their wires and what their callers are told. */
export class Ledger {
  readonly #setting: Setting;
  readonly #now: () => number;
  readonly #policySize: number;
  readonly #accounts = new Map<string, Account>();
  /** Requests that give something back, however often they are sent. */
  readonly #released = new Set<string>();
  /** In place of a stamp, for permits of a call that is no lease. */
  #plain = 0;
  readonly #sentAt = new Map<ScriptCall, number>();
  /** Of requests: when they were done for the first time, and what the server's clock showed. */
  readonly #executed = new Map<string, { us: number; clock: number }>();
  readonly faults: string[] = [];
  /** What happened, if anybody wants to know. */
  readonly trace: string[] | undefined;
  /** Permits that plain calls took, whoever was told. */
  taken = 0;
  leases = 0;
  spentAhead = 0;

  constructor(setting: Setting, now: () => number, traced: boolean) {
    this.#setting = setting;
    this.#now = now;
    this.#policySize = setting.algorithm === 'token-bucket' ? 3 : 2;
    this.trace = traced ? [] : undefined;
  }

  get us(): number {
    return this.#now();
  }

  note(text: string): void {
    this.trace?.push(`${(this.#now() / 1000).toFixed(3)} ${text}`);
  }

  fault(text: string, us = this.#now()): void {
    this.faults.push(`at ${(us / 1000).toFixed(3)} ms: ${text}`);
  }

  witness(node: string): Witness {
    return {
      onSent: (call) => this.#onSent(node, call),
      onExecuted: (execution) => this.#onExecuted(node, execution),
      onDelivered: (execution) => this.#onDelivered(node, execution),
    };
  }

  onAllowed(node: string, { key, cost, source, startUs }: Told): void {
    const ahead = source === 'lease';
    if (ahead) this.spentAhead += cost;
    this.#account(node, key).add({ kind: 'spend', us: this.#now(), permits: cost, startUs, ahead });
  }

  /** Somebody waited for this lease, from when it was asked for until it came. */
  onAwaited(node: string, key: string, stamp: number, askedUs: number): void {
    this.#account(node, key).await(stamp, askedUs);
  }

  /** And for this call. */
  onAwaitedCall(node: string, key: string, cost: number): void {
    this.#account(node, key).awaitCall(cost, this.#now());
  }

  /** The server has lost everything, also what it has answered. */
  onFlush(): void {
    this.#executed.clear();
  }

  onReset(node: string, key: string): void {
    this.#account(node, key).add({ kind: 'reset', us: this.#now() });
  }

  /** The admissions of each key, after all accounts were gone through. */
  settle(): Map<string, Admission[]> {
    const admissions = new Map<string, Admission[]>();
    const complete = this.#setting.faults.length === 0;
    for (const account of this.#accounts.values()) {
      const all = admissions.get(account.key) ?? [];
      admissions.set(account.key, all);
      account.settle(all, complete, (text, us) => this.fault(text, us));
    }
    return admissions;
  }

  #onSent(node: string, call: ScriptCall): void {
    const us = this.#now();
    this.#sentAt.set(call, us);
    this.note(`${node} sends ${call.keys} ${call.args.slice(2 + this.#policySize)}`);
    const [{ key, op, cost, stamp }] = this.#steps(call) as [Step];
    if (op !== 'release') return;
    // What is sent back is nobody's any more, also if it never arrives.
    if (this.#released.has(requestOf(call))) return;
    this.#released.add(requestOf(call));
    this.#account(node, key).add({ kind: 'release', us, permits: cost, stamp });
  }

  #onExecuted(node: string, execution: Execution): void {
    this.note(`${node} ran ${shown(execution)}`);
    const { call, reply, us } = execution;
    if (reply.length === 1) return;
    // What is known of the server's clock is wrong by a deadline at most.
    const { faults, deadlineMs } = this.#setting;
    const sentUs = this.#sentAt.get(call) as number;
    const late = us - sentUs > 2 * deadlineMs * 1000 + 1000;
    if (late && faults.every(({ kind }) => kind !== 'clock step')) {
      this.fault(`${node} had something done ${(us - sentUs) / 1000} ms after it was sent`);
    }
    const request = requestOf(call);
    if (!this.#executed.has(request))
      this.#executed.set(request, { us, clock: reply[0] as number });
    for (const [i, { op, cost }] of this.#steps(call).entries()) {
      if (op === 'acquire' && reply[1 + 4 * i] === 1) this.taken += cost;
    }
  }

  #onDelivered(node: string, execution: Execution): void {
    const { call, reply } = execution;
    this.note(`${node} is told ${shown(execution)}`);
    const request = requestOf(call);
    if (reply.length === 1) return;
    const { lease, windowMs } = this.#setting;
    const us = this.#now();
    // A request that was sent again has the answer of its first time.
    const once = call.form === 'lease' ? this.#executed.get(request) : undefined;
    const { us: takenUs, clock } = once ?? { us: execution.us, clock: reply[0] as number };
    for (const [i, { key, op, cost }] of this.#steps(call).entries()) {
      const [granted, , , resetAfter, , stamp, life] = reply.slice(1 + 4 * i) as number[];
      const windowUs = clock + (resetAfter as number) - windowMs * 1000;
      const account = this.#account(node, key);
      if (op === 'acquire' && granted === 1) {
        // Only for the one who asked.
        const plain = { leased: false, stamp: --this.#plain, lifeUs: 0 };
        account.add({ kind: 'credit', us, permits: cost, takenUs, windowUs, ...plain });
      } else if (op === 'lease' && (granted as number) > 0) {
        this.leases++;
        const age = Math.min((lease?.maxAgeMs ?? 0) * 1000, life || Infinity);
        const leased = { leased: true, stamp: stamp as number, lifeUs: age };
        account.add({
          kind: 'credit',
          us,
          permits: granted as number,
          takenUs,
          windowUs,
          ...leased,
        });
      }
    }
  }

  #account(node: string, key: string): Account {
    const name = `${node} ${key}`;
    let account = this.#accounts.get(name);
    if (account === undefined) {
      account = new Account(node, key, this.#setting.lease?.permits ?? 0);
      this.#accounts.set(name, account);
    }
    return account;
  }

  /** What a call of a script asks for each key. */
  #steps({ form, keys, args }: ScriptCall): Step[] {
    const each = args.slice(2 + this.#policySize);
    const named = form === 'lease' ? keys.slice(0, 1) : keys;
    return named.map((key, i) => ({
      key: key.slice(key.indexOf('{') + 2, -1),
      op: each[2 * i] as Argument,
      cost: Number(each[2 * i + 1]),
      stamp: Number(each[2 * i + 2]),
    }));
  }
}

/** The key that tells a request of a lease, or of the end of one, from all others. */
function requestOf({ form, keys }: ScriptCall): string {
  return form === 'lease' ? (keys[2] as string) : '';
}

function shown({ call, reply, us }: Execution): string {
  return `${call.keys} -> ${reply.slice(1)} (ran at ${us / 1000})`;
}
