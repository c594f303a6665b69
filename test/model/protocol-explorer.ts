// Explores every interleaving of a few threads that run the protocol. A state is the shared words and where each thread
// is; states that were met before are not looked at again. Breadth first, so that a counterexample is a shortest one.
//
// A thread that stops for ever at a step is one that is never scheduled again. So what holds in every state, and for
// every thread that runs on alone from it, holds whichever of the others have died, at whichever step. Deaths as steps
// of their own are needed only where another thread learns of them: `mortal`.

import type { Protocol } from './protocol.ts';
import { Automaton, type Node } from './protocol-automaton.ts';
import { Invariants } from './protocol-invariants.ts';
import { grown, StateSet } from './protocol-states.ts';
import { ANSWERED, DEAD, type Program, Threads, WAITS, WROTE } from './protocol-threads.ts';

export interface Exploration {
  readonly states: number;
  /** What went wrong first, and the steps to it; empty if nothing did. */
  readonly fault: string;
  readonly steps: readonly string[];
  /** Which thread made each of those steps. */
  readonly schedule: readonly number[];
}

const NOWHERE = -1;
/** What `choice` is 2 for: there are two choices at most. */
const DIES = 2;
const NONE: readonly number[] = [];
const ONE = [0];
const ONE_OR_DIES = [0, DIES];
const EITHER = [0, 1];
const EITHER_OR_DIES = [0, 1, DIES];

export class Explorer {
  readonly #protocol: Protocol;
  readonly #automaton = new Automaton();
  readonly #states = new StateSet();
  /** By state: the state it was found from, times 16, with the thread and the choice that led to it. */
  #origins = new Int32Array(1 << 12);
  /** By state and thread: where the thread comes to alone; NOWHERE if it has ended or waits for a lock. */
  #alone = new Int32Array(1 << 12);

  constructor(protocol: Protocol) {
    this.#protocol = protocol;
  }

  /** `reduced` leaves out states that differ only in reads which might as well have been made before. */
  explore(program: Program, reduced = program.mortal === undefined): Exploration {
    const states = this.#states;
    const threads = new Threads(this.#protocol, this.#automaton, program, reduced);
    const invariants = new Invariants(this.#protocol, threads);
    const count = program.threads.length;
    const row = threads.begin();
    threads.settle(row, 0, 0);
    states.clear(threads.width);
    states.add(row);
    this.#origins[0] = NOWHERE;
    let fault = invariants.faultInTable(row) || invariants.faultInAnswers(row);
    for (let from = 0; from < states.count && fault === ''; from++) {
      this.#makeRoom(states.count, count);
      states.read(from, row);
      for (let t = 0; t < count; t++) {
        this.#alone[from * count + t] = NOWHERE;
        for (const choice of this.#choices(threads, row, t)) {
          const known = states.count;
          let made = WROTE;
          if (choice === DIES) threads.die(row, t);
          else made = threads.settle(row, t, threads.step(row, t, choice));
          const target = states.add(row);
          if (choice !== DIES && !(made & WAITS)) this.#alone[from * count + t] = target;
          if (target === known) {
            this.#makeRoom(states.count, count);
            this.#origins[target] = from * 16 + t * 4 + choice;
            if (made & (WROTE | ANSWERED)) fault ||= invariants.faultInTable(row);
            if (made & ANSWERED) fault ||= invariants.faultInAnswers(row);
            if (fault !== '') return this.#found(fault, target, threads);
          }
          states.read(from, row);
        }
      }
    }
    if (fault !== '') return this.#found(fault, 0, threads);
    const stuck = this.#findCycle(states.count, count);
    if (stuck === undefined) return { states: states.count, fault: '', steps: [], schedule: [] };
    return this.#found(`thread ${stuck.t + 1} runs for ever, alone`, stuck.state, threads);
  }

  /** What can happen to a thread next: usually one thing. */
  #choices(threads: Threads, row: Int32Array, t: number): readonly number[] {
    const at = threads.at(row, t);
    if (at < 0) return NONE;
    const { access, phase, args } = this.#automaton.nodes[at] as Node;
    // Nobody is buried alive.
    if (this.#protocol.isBurying(phase) && threads.at(row, (args[0] as number) - 1) !== DEAD)
      return [];
    const { mortal, evenLocked } = threads.program;
    const dies = mortal?.includes(t) && (evenLocked || !this.#protocol.isLocked(phase));
    if (access.kind === 'choose') return dies ? EITHER_OR_DIES : EITHER;
    return dies ? ONE_OR_DIES : ONE;
  }

  #makeRoom(states: number, threads: number): void {
    while (this.#origins.length <= states) this.#origins = grown(this.#origins);
    while (this.#alone.length <= states * threads) this.#alone = grown(this.#alone);
  }

  /** A thread that, running alone, comes back to a state in which it was. */
  #findCycle(states: number, threads: number): { state: number; t: number } | undefined {
    const seen = new Uint8Array(states);
    for (let t = 0; t < threads; t++) {
      const after = (state: number) => this.#alone[state * threads + t] as number;
      seen.fill(0);
      for (let first = 0; first < states; first++) {
        let state = first;
        for (; state >= 0 && seen[state] === 0; state = after(state)) seen[state] = 1;
        if (state >= 0 && seen[state] === 1) return { state, t };
        for (state = first; state >= 0 && seen[state] === 1; state = after(state)) seen[state] = 2;
      }
    }
    return undefined;
  }

  #found(fault: string, last: number, threads: Threads): Exploration {
    const steps: string[] = [];
    const schedule: number[] = [];
    const row = new Int32Array(threads.width);
    for (let state = last; this.#origins[state] !== NOWHERE; ) {
      const origin = this.#origins[state] as number;
      state = origin >> 4;
      const t = (origin >> 2) & 3;
      this.#states.read(state, row);
      steps.unshift(`thread ${t + 1} ${this.#told(row, threads.at(row, t), origin & 3)}`);
      schedule.unshift(t);
    }
    return { states: this.#states.count, fault, steps, schedule };
  }

  #told(row: Int32Array, at: number, choice: number): string {
    const { access, phase, args } = this.#automaton.nodes[at] as Node;
    const { kind, word, at: where, value, expected } = access;
    const found = row[where];
    const swapped = found === expected ? `is swapped for ${value}` : `is ${found}, not ${expected}`;
    const what = {
      load: `is ${found}`,
      store: `is set to ${value}`,
      swap: swapped,
      add: '',
      choose: `${choice}`,
    };
    const happens = choice === DIES ? 'dies' : `${word} ${where} ${what[kind]}`;
    return `${phase.name}(${args}): ${happens}`;
  }
}
