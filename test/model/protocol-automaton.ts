// The protocol's phases as an automaton. A generator cannot be copied, so a state of one is the list of what it has read;
// each list is played to a generator once, and the step that it comes to is kept as a node with a number. The explorer
// then only follows numbers.

import type { Access, Outcome, Phase } from './protocol-access.ts';

/** A thread about to make `access`. */
export interface Node {
  readonly access: Access;
  readonly phase: Phase;
  readonly args: readonly number[];
  /** What the phase has read so far. */
  readonly read: readonly number[];
  /** What comes next, by what is found. */
  readonly next: Map<number, Transition>;
}

/** To another node, or to the end of the call. */
export interface Transition {
  /** -1 at the end of the call. */
  readonly node: number;
  readonly answer: number;
  readonly latest: number;
  /** Starts over because another thread holds the lock. */
  readonly waits: boolean;
}

export class Automaton {
  readonly nodes: Node[] = [];
  readonly #starts = new Map<Phase, Map<string, Transition>>();

  /** A phase at its beginning. */
  start(phase: Phase, args: readonly number[], waits = false): Transition {
    const starts = this.#starts.get(phase) ?? new Map<string, Transition>();
    this.#starts.set(phase, starts);
    const key = `${waits} ${args}`;
    const start = starts.get(key) ?? this.#play(phase, args, [], waits);
    starts.set(key, start);
    return start;
  }

  /** The step after node `index`, where `word` was found. */
  after(index: number, word: number): Transition {
    const node = this.nodes[index] as Node;
    const known = node.next.get(word);
    if (known !== undefined) return known;
    const seen = node.access.view(word);
    const alike = [...node.next].find(([other]) => node.access.view(other) === seen);
    const next = alike?.[1] ?? this.#play(node.phase, node.args, [...node.read, seen], false);
    node.next.set(word, next);
    return next;
  }

  #play(phase: Phase, args: readonly number[], read: readonly number[], waits: boolean) {
    const steps = phase(...args);
    let step: IteratorResult<Access, Outcome> = steps.next();
    for (const seen of read) step = steps.next(seen);
    if (!step.done) {
      this.nodes.push({ access: step.value, phase, args, read, next: new Map() });
      return { node: this.nodes.length - 1, answer: 0, latest: 0, waits };
    }
    const outcome = step.value;
    if ('to' in outcome) return this.start(outcome.to, outcome.args, outcome.waits);
    return { node: -1, answer: outcome.answer, latest: outcome.latest, waits };
  }
}
