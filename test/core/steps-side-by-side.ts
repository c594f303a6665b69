// Runs a call of the model and the same call of the built table side by side, both one access at a time. Whatever word they
// come to, both are told the same one, drawn from all kinds of words that can stand there.

import { readFileSync } from 'node:fs';
import { ALLOWED, BALANCE_SHIFT, OVERFLOW, protocol } from '../model/protocol.ts';
import type { Access, Outcome, Phase } from '../model/protocol-access.ts';
import { type ModelPolicy, modelBucket, modelCounter } from '../model/protocol-policies.ts';
import { dice } from '../model/protocol-programs.ts';
import type { Protection } from '../model/protocol-table.ts';
import { readModule } from '../support/wasm-reader.ts';
import { type AtomicAccess, run } from '../support/wasm-stepper.ts';

const wasm = readFileSync(new URL('../../build/sharedTable.wasm', import.meta.url));
export const sharedTable = readModule(wasm);

const OWNER = 2;
const DEAD = 3;
const STRANGER = 5;
/** The model's tags, and what they are in the table: ours has the first set of two first, lock 0x23 and cell 0. */
const TAG = 1;
const OTHER = 2;
const REAL_TAGS: readonly bigint[] = [0n, 0x0000_0001_ff00_23f0n, 5n];
const KEY = { tag: TAG, sets: [0, 1] as const, lock: 0x23, cell: 0 };

/** An algorithm, and how the model's words for it are spelled in the table. */
export interface Algorithm {
  readonly name: string;
  readonly policy: ModelPolicy;
  create(exports: Record<string, CallableFunction>): void;
  state(word: number): bigint;
  balance(word: number): bigint;
}

export const BUCKET: Algorithm = {
  name: 'tokenBucket',
  policy: modelBucket(2, 3),
  create: (exports) => exports.createTokenBucket?.(1, 1n, 2n, 0n, 2n, 1n, 3n),
  state: BigInt,
  balance: BigInt,
};
const FROZEN = 1 << 20;
export const COUNTER: Algorithm = {
  name: 'slidingWindowCounter',
  policy: modelCounter(2, 3),
  create: (exports) => exports.createSlidingWindowCounter?.(1, 1n, 2n, 0n, 2n, 3n),
  state: (word) => (word & FROZEN ? (1n << 63n) | BigInt(word & ~FROZEN) : BigInt(word)),
  balance: (word) =>
    (BigInt(word >> 16) << 60n) | (BigInt((word >> 8) & 255) << 30n) | BigInt(word & 255),
};

export const OPERATIONS = ['acquire', 'force', 'peek', 'refund', 'reset', 'bury'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** The function that the table exports for it. */
export function exportOf(algorithm: Algorithm, operation: Operation): number {
  const name = algorithm.name + operation.replace(/^./, (letter) => letter.toUpperCase());
  return sharedTable.exports.get(name) as number;
}

/** What was done to which word. */
export type Step = readonly [kind: string, word: string, value: bigint, expected: bigint];

export interface Played {
  /** By the model and by the table, up to where they first differ. */
  readonly due: readonly Step[];
  readonly made: readonly Step[];
  readonly dueAnswer: bigint | undefined;
  /** Text if the table goes on where the model ends. */
  readonly answer: unknown;
}

/** A table of two sets and one algorithm. Only its header is ever read: the accesses are not made. */
export class SideBySide {
  readonly algorithm: Algorithm;
  /** Atomic instructions that were come to. */
  readonly reached = new Set<string>();
  readonly #memory: DataView;
  readonly #cells: number;
  readonly #slots: number;
  readonly #without: readonly Protection[];

  constructor(algorithm: Algorithm, without: readonly Protection[] = []) {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 32_768, shared: true });
    const imports = { env: { memory }, thread: { owner: OWNER } };
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(wasm), imports);
    this.algorithm = algorithm;
    algorithm.create(exports as Record<string, CallableFunction>);
    this.#memory = new DataView(memory.buffer);
    this.#cells = this.#memory.getUint32(48, true);
    this.#slots = this.#memory.getUint32(52, true);
    this.#without = without;
  }

  play(operation: Operation, seed: number): Played {
    const { policy } = this.algorithm;
    const without = this.#without;
    const model = protocol({ policy, keys: [KEY], ways: 8, fill: 4, locks: 1024, without });
    const below = dice(seed);
    const now = below(9);
    const cost = 1 + below(2);
    const draw = drawer(policy, now, below);
    const [args, realArgs] = argumentsOf(operation, now, cost);
    const around = { module: sharedTable, memory: this.#memory, owner: OWNER };
    const real = run(around, exportOf(this.algorithm, operation), realArgs);
    const due: Step[] = [];
    const made: Step[] = [];
    let steps = (model.calls[operation] as Phase)(...args);
    let ours = steps.next();
    let theirs = real.next();
    for (;;) {
      if (ours.done) {
        const outcome = ours.value;
        if ('to' in outcome && !outcome.waits && !model.isFronts(outcome.to)) {
          steps = outcome.to(...outcome.args);
          ours = steps.next();
          continue;
        }
        const dueAnswer = operation === 'bury' ? undefined : this.#answer(operation, outcome);
        return { due, made, dueAnswer, answer: theirs.done ? theirs.value : 'another step' };
      }
      const access = ours.value;
      due.push(this.#modelStep(access, model.table));
      if (theirs.done) break;
      made.push(this.#realStep(theirs.value));
      this.reached.add(theirs.value.place);
      if (due.at(-1)?.join() !== made.at(-1)?.join()) break;
      const succeeds = access.kind === 'swap' && below(3) > 0;
      const found = succeeds ? access.expected : draw[access.word]();
      ours = steps.next(access.view(found));
      theirs = real.next(this.#word(access.word, found));
    }
    return { due, made, dueAnswer: undefined, answer: undefined };
  }

  #modelStep(access: Access, table: { slots: { from: number }; locks: { from: number } }): Step {
    const { kind, word, at, value, expected } = access;
    let name: string = word;
    if (word === 'tag' || word === 'state') name = `${word} ${(at - table.slots.from) >> 1}`;
    if (word === 'lock') name = `lock ${at - table.locks.from}`;
    const written = kind === 'load' ? 0n : this.#word(word, value);
    return [kind, name, written, kind === 'swap' ? this.#word(word, expected) : 0n];
  }

  #realStep({ kind, at, value, expected }: AtomicAccess): Step {
    return [kind, this.#nameOf(at), value, expected];
  }

  #nameOf(at: number): string {
    if (at === 128) return 'horizon';
    if (at === 192 || at === 200 || at === 208) return 'count';
    if (at >= this.#slots) return `${at % 16 === 0 ? 'tag' : 'state'} ${(at - this.#slots) >> 4}`;
    return at >= this.#cells ? 'cell' : `lock ${(at - 512) / 8}`;
  }

  /** A word of the model as it is in the table. */
  #word(word: Access['word'], value: number): bigint {
    if (word === 'tag') return REAL_TAGS[value] as bigint;
    if (word === 'lock') return (BigInt(value >> 3) << 32n) | BigInt(value & 7);
    return word === 'state' || word === 'cell' ? this.algorithm.state(value) : BigInt(value);
  }

  /** What the table answers: a decision, BEHIND or LOCKED. */
  #answer(operation: Operation, outcome: Outcome): bigint | undefined {
    if (operation === 'refund' || operation === 'reset') return undefined;
    if ('to' in outcome) return (1n << 63n) | (outcome.waits ? 4n : 0n);
    const flags = BigInt(outcome.answer & (ALLOWED | OVERFLOW));
    return (this.algorithm.balance(outcome.answer >> BALANCE_SHIFT) << 2n) | flags;
  }
}

/** For the model, and for the table. */
function argumentsOf(operation: Operation, now: number, cost: number) {
  const keyed = [TAG, now, cost];
  const real = [REAL_TAGS[TAG] as bigint, BigInt(now), BigInt(cost)];
  if (operation === 'bury') return [[DEAD, OWNER], [DEAD]] as const;
  if (operation === 'reset') return [keyed.slice(0, 2), real.slice(0, 2)] as const;
  return [operation === 'acquire' ? [...keyed, OWNER, 1] : keyed, real] as const;
}

/** Draws what stands in a word. Every way that the protocol can take must be likely enough to be taken in a few hundred runs. */
function drawer(policy: ModelPolicy, now: number, below: (count: number) => number) {
  /** In some tables most slots are live, or no key would ever overflow. */
  const states = below(3) === 0 ? 12 : 5;
  const owner = () => (below(2) === 0 ? DEAD : STRANGER);
  const takenAt = (time: number, keys: number) =>
    policy.handedOver(policy.charged(0, 0, policy.phase(time), 1 + below(2)), keys);
  const state = () => {
    const kind = below(states);
    if (kind === 0) return 0;
    if (kind === 1) return policy.renewed(0, policy.phase(now));
    if (kind === 2) return policy.frozen(below(3), owner());
    return takenAt(kind === 3 ? below(now) : now + below(3), below(4));
  };
  const draw: Record<Access['word'], () => number> = {
    horizon: () => Math.max(0, now + (below(6) === 0 ? 1 : -below(2))),
    lock: () => (below(6) === 0 ? owner() << 3 : 0) + below(7),
    cell: () => (below(2) === 0 ? 0 : takenAt(below(now + 3), 0)),
    // Our own is rare, or no call would ever find that its key has no slot.
    tag: () => (below(12) === 0 ? TAG : below(3) === 0 ? 0 : OTHER),
    state,
    count: () => 0,
    patience: () => 0,
  };
  return draw;
}
