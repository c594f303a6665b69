import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Node binary that the measurements run on. */
  readonly node: string;
  readonly effort: Effort;
}

/** How long to measure for. */
export interface Effort {
  readonly quick: boolean;
  /** Fresh processes for each subject and workload. */
  readonly rounds: number;
  /** Samples a process, and how long one lasts at least. */
  readonly minSamples: number;
  readonly minSampleSeconds: number;
  readonly latencyRounds: number;
  readonly latencyKeys: number;
  readonly heapCalls: number;
  /** A Map keeps every key and ends at 2^24 of them. */
  readonly rivalHeapCalls: number;
}

export const USAGE = `npm run bench -- [--quick] [--node <path>]
  --quick         under two minutes; the figures wobble more
  --node <path>   measure on that Node binary (default: the variable NODE, else this one)`;

const FULL: Effort = {
  quick: false,
  rounds: 5,
  minSamples: 12,
  minSampleSeconds: 0.03,
  latencyRounds: 5,
  latencyKeys: 3_000_000,
  heapCalls: 100_000_000,
  rivalHeapCalls: 3_000_000,
};

const QUICK: Effort = {
  ...FULL,
  quick: true,
  rounds: 1,
  minSamples: 8,
  minSampleSeconds: 0.01,
  latencyRounds: 1,
  heapCalls: 10_000_000,
};

/** What the command line asks for; throws on anything it does not know. */
export function benchOptions(args: string[]): BenchOptions {
  const { values } = parseArgs({
    args,
    options: { quick: { type: 'boolean', default: false }, node: { type: 'string' } },
  });
  const node = values.node ?? process.env.NODE ?? process.execPath;
  return { node, effort: values.quick ? QUICK : FULL };
}
