// Programs, and where their threads are. In a state, a thread is two numbers: the node it is at, and its past.

import type { Protocol } from './protocol.ts';
import type { Phase } from './protocol-access.ts';
import type { Automaton, Node } from './protocol-automaton.ts';
import type { Answered, Call, Progress } from './protocol-oracle.ts';
import { Reach } from './protocol-reach.ts';

export interface Program {
  /** Calls that another thread made before, alone. */
  readonly before: readonly Call[];
  readonly threads: readonly (readonly Call[])[];
  /** Threads that may die at any step that is not under the lock. */
  readonly mortal?: readonly number[];
  /** Whether they may die under the lock, too, which the engine does not do. */
  readonly evenLocked?: boolean;
}

/** What came of a step: flags, since there are so many steps. */
export const WROTE = 1;
/** A call has ended. */
export const ANSWERED = 2;
/** The call starts over because another thread holds the lock. */
export const WAITS = 4;

/** In the place of a node. */
export const DONE = -1;
export const DEAD = -2;

const CREATOR = 7;

/** What a thread has behind it. */
interface Past {
  readonly id: number;
  readonly latest: number;
  readonly answered: readonly Answered[];
}

export class Threads {
  readonly program: Program;
  readonly automaton: Automaton;
  readonly #protocol: Protocol;
  readonly #pasts: Past[] = [];
  readonly #pastsByKey = new Map<string, Past>();
  readonly #first: number;
  readonly #reach: Reach | undefined;

  constructor(protocol: Protocol, automaton: Automaton, program: Program, reduced = false) {
    this.#reach = reduced ? new Reach(protocol, program) : undefined;
    this.program = program;
    this.automaton = automaton;
    this.#protocol = protocol;
    this.#first = protocol.table.slots.to;
  }

  get width(): number {
    return this.#first + 2 * this.program.threads.length;
  }

  /** Of the state in which every thread is about to begin. */
  begin(): Int32Array {
    const row = new Int32Array(this.width);
    for (const call of this.program.before) this.#runAlone(call, row);
    for (const t of this.program.threads.keys()) this.#enter(row, t, this.#past(t, 0, []));
    return row;
  }

  at(row: Int32Array, t: number): number {
    return row[this.#first + 2 * t] as number;
  }

  pastId(row: Int32Array, t: number): number {
    return row[this.#first + 2 * t + 1] as number;
  }

  die(row: Int32Array, t: number): void {
    row[this.#first + 2 * t] = DEAD;
  }

  progress(row: Int32Array): Progress[] {
    return this.program.threads.map((calls, t) => {
      const { answered } = this.#pasts[this.pastId(row, t)] as Past;
      return { answered, pending: calls[answered.length] };
    });
  }

  /**
   * Makes the step that the thread is at; `choice` is what it finds where nothing is read. Counting is no step of its own:
   * no thread reads the counts.
   */
  step(row: Int32Array, t: number, choice: number): number {
    const { nodes } = this.automaton;
    const from = this.at(row, t);
    const { access } = nodes[from] as Node;
    const found = access.kind === 'choose' ? choice : (row[access.at] as number);
    let made = perform(row, access) ? WROTE : 0;
    let next = this.automaton.after(from, found);
    while (next.node >= 0 && (nodes[next.node] as Node).access.kind === 'add') {
      if (next.waits) made |= WAITS;
      next = this.automaton.after(next.node, 0);
    }
    if (next.waits) made |= WAITS;
    if (next.node >= 0) {
      row[this.#first + 2 * t] = next.node;
      return made;
    }
    const past = this.#pasts[this.pastId(row, t)] as Past;
    const call = this.program.threads[t]?.[past.answered.length] as Call;
    const done = { call, answer: next.answer, latest: next.latest };
    const latest = Math.max(past.latest, next.latest);
    this.#enter(row, t, this.#past(t, latest, [...past.answered, done]));
    return made | ANSWERED;
  }

  /** After a step of `mover`, makes every read that might as well be made later; see protocol-reach.ts. */
  settle(row: Int32Array, mover: number, made: number): number {
    const reach = this.#reach;
    if (reach === undefined) return made;
    for (let t = 0; t < this.program.threads.length; t++) {
      for (let at = this.at(row, t); at >= 0; at = this.at(row, t)) {
        const { access } = this.automaton.nodes[at] as Node;
        if (access.kind !== 'load' || this.#isOpen(reach, row, t, access.at)) break;
        const own = this.step(row, t, 0);
        made |= own & (t === mover ? ANSWERED | WAITS : ANSWERED);
        if (own & WAITS) break;
      }
    }
    return made;
  }

  /** Whether a thread other than `t` may yet change the word. */
  #isOpen(reach: Reach, row: Int32Array, t: number, word: number): boolean {
    if (reach.isLast(word, row[word] as number)) return false;
    for (let other = 0; other < this.program.threads.length; other++) {
      if (other === t) continue;
      const { answered } = this.#pasts[this.pastId(row, other)] as Past;
      if (reach.mayChange(other, answered.length, word)) return true;
    }
    return false;
  }

  /** To the first step of the call that comes after this past. */
  #enter(row: Int32Array, t: number, { id, latest, answered }: Past): void {
    const call = this.program.threads[t]?.[answered.length];
    const now = Math.max(latest, call?.now ?? 0);
    row[this.#first + 2 * t] = call === undefined ? DONE : this.#start(call, now, t + 1);
    row[this.#first + 2 * t + 1] = id;
  }

  #past(t: number, latest: number, answered: readonly Answered[]): Past {
    const answers = answered.map(({ answer, latest }) => `${answer},${latest}`);
    const key = `${t} ${latest} ${answers}`;
    const known = this.#pastsByKey.get(key);
    if (known !== undefined) return known;
    const past = { id: this.#pasts.length, latest, answered };
    this.#pasts.push(past);
    this.#pastsByKey.set(key, past);
    return past;
  }

  #start({ call, tag, cost }: Call, now: number, owner: number): number {
    const { acquire, peek, refund, reset, bury } = this.#protocol.calls;
    const starts: Record<Call['call'], readonly [Phase, number[]]> = {
      acquire: [acquire, [tag, now, cost, owner, 1]],
      impatient: [acquire, [tag, now, cost, owner, 0]],
      peek: [peek, [tag, now, cost]],
      refund: [refund, [tag, now, cost]],
      reset: [reset, [tag, now]],
      bury: [bury, [tag + 1, owner]],
    };
    const [phase, args] = starts[call];
    return this.automaton.start(phase, args).node;
  }

  #runAlone(call: Call, row: Int32Array): void {
    let at = this.#start(call, call.now, CREATOR);
    while (at >= 0) {
      const { access } = this.automaton.nodes[at] as Node;
      const found = row[access.at] as number;
      perform(row, access);
      at = this.automaton.after(at, found).node;
    }
  }
}

/** Whether it changed anything. */
function perform(row: Int32Array, { kind, at, value, expected }: Node['access']): boolean {
  if (kind !== 'store' && (kind !== 'swap' || row[at] !== expected)) return false;
  row[at] = value;
  return true;
}
