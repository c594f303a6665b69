// What must hold in every state that a program can come to; see protocol-oracle.ts for what answers are right.

import type { Protocol } from './protocol.ts';
import type { Node } from './protocol-automaton.ts';
import {
  admitted,
  hasOrder,
  mostAdmitted,
  type Progress,
  wasForced,
  wordAfter,
} from './protocol-oracle.ts';
import { DEAD, DONE, type Threads } from './protocol-threads.ts';

export class Invariants {
  readonly #protocol: Protocol;
  readonly #threads: Threads;
  readonly #times: readonly number[];
  /** Each key with its word at the beginning, and the most permits that it can be given from there. */
  readonly #keys: readonly { tag: number; word: number; most: number }[];
  readonly #checked = new Set<string>();

  constructor(protocol: Protocol, threads: Threads) {
    const { before, threads: calls } = threads.program;
    const all = calls.flat().filter(({ call }) => call !== 'bury');
    this.#protocol = protocol;
    this.#threads = threads;
    this.#times = [...new Set([...before, ...all].map(({ now }) => now))];
    this.#keys = [...new Set(all.map(({ tag }) => tag))].map((tag) => {
      const word = wordAfter(protocol.policy, before, tag);
      return { tag, word, most: mostAdmitted(protocol.policy, tag, word, all, this.#times) };
    });
  }

  /** No key in two slots; nothing frozen or locked but by one who is at work on it. */
  faultInTable(row: Int32Array): string {
    const { policy, table, ownerOf } = this.#protocol;
    const { slots, locks } = table;
    const seen = new Set<number>();
    for (let slot = slots.from; slot < slots.to; slot += slots.size) {
      const tag = row[slot] as number;
      const state = row[table.stateOf(slot)] as number;
      if (policy.isFrozen(state)) {
        const owner = policy.ownerOf(state);
        if (!this.#isAtWork(row, owner)) return `slot ${slot} was left frozen by thread ${owner}`;
      } else if (tag !== 0) {
        if (seen.has(tag)) return `key ${tag} is in two slots`;
        seen.add(tag);
      }
    }
    for (let lock = locks.from; lock < locks.to; lock++) {
      const owner = ownerOf(row[lock] as number);
      if (owner !== 0 && !this.#isAtWork(row, owner))
        return `lock ${lock} was left by thread ${owner}`;
    }
    return '';
  }

  /** No permit too many, and answers that some order of the calls explains. */
  faultInAnswers(row: Int32Array): string {
    const { policy, table } = this.#protocol;
    const pasts = this.#threads.program.threads.map((_, t) => this.#threads.pastId(row, t));
    const charged = row.slice(table.cells.from, table.cells.to).map((cell) => (cell === 0 ? 0 : 1));
    const key = `${pasts} ${charged}`;
    if (this.#checked.has(key)) return '';
    this.#checked.add(key);
    const progress = this.#threads.progress(row);
    for (const { tag, word, most } of this.#keys) {
      const given = progress.reduce((sum, { answered }) => sum + admitted(answered, tag), 0);
      if (given > most) return `key ${tag} was given ${given} permits where ${most} were due`;
      if (!this.#isOrdered(tag, row, progress)) continue;
      if (!hasOrder(policy, tag, word, progress, this.#times)) {
        return `no order of the calls on key ${tag} gives these answers`;
      }
    }
    return '';
  }

  /** Whether it is under its lock, or burying, or dead and not yet buried. */
  #isAtWork(row: Int32Array, owner: number): boolean {
    const at = this.#threads.at(row, owner - 1);
    if (at >= 0) {
      const { phase } = this.#threads.automaton.nodes[at] as Node;
      return this.#protocol.isLocked(phase) || this.#protocol.isBurying(phase);
    }
    const heir = this.#threads.program.threads.findIndex((calls) =>
      calls.some(({ call, tag }) => call === 'bury' && tag === owner - 1),
    );
    return at === DEAD && heir >= 0 && this.#threads.at(row, heir) !== DONE;
  }

  /**
   * Whether an order of the key's calls must explain all its answers. Not if one did without the lock; and not if a cell
   * was charged that others use as well, or that keeps a debt which was given back in a slot: that can only deny.
   */
  #isOrdered(tag: number, row: Int32Array, progress: readonly Progress[]): boolean {
    const { cellOf } = this.#protocol.table;
    const isForcing = ({ pending }: Progress) =>
      pending?.tag === tag && pending.call === 'impatient';
    if (progress.some((own) => wasForced(own.answered, tag) || isForcing(own))) return false;
    if (row[cellOf(tag)] === 0) return true;
    const { before, threads } = this.#threads.program;
    return [...before, ...threads.flat()].every(({ call, tag: other }) => {
      if (call === 'bury') return true;
      if (other !== tag) return cellOf(other) !== cellOf(tag);
      return call !== 'refund' && call !== 'reset';
    });
  }
}
