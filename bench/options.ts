import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Node binaries that the measurements run on, one after the other. */
  readonly nodes: readonly string[];
  readonly effort: Effort;
  /** Whether the README's figures are to be written anew. */
  readonly readme: boolean;
}

/** How long to measure for. */
export interface Effort {
  readonly quick: boolean;
  /** Part of the names of the sections and workloads to measure, or nothing for all. */
  readonly only: string;
  /** Fresh processes for each subject and workload. */
  readonly rounds: number;
  /** Samples a process, and how long one lasts at least. */
  readonly minSamples: number;
  readonly minSampleSeconds: number;
  readonly latencyRounds: number;
  readonly heapCalls: number;
  /** Calls of a `Map`, which keeps every key. */
  readonly mapHeapCalls: number;
}

export const USAGE = `npm run bench -- local [--quick] [--node <path>]... [--only <text>] [--readme]
  --quick         under two minutes, the most important rows only; the figures wobble more
  --node <path>   measure on that Node binary (default: the variable NODE, else this one); can be said more than once
  --only <text>   only sections and workloads whose name contains the text; keeps no report
  --readme        write the figures in the README anew, from this run`;

const FULL: Effort = {
  quick: false,
  only: '',
  rounds: 5,
  minSamples: 12,
  minSampleSeconds: 0.03,
  latencyRounds: 5,
  heapCalls: 100_000_000,
  mapHeapCalls: 3_000_000,
};

const QUICK: Effort = {
  ...FULL,
  quick: true,
  rounds: 1,
  minSamples: 8,
  minSampleSeconds: 0.01,
  latencyRounds: 1,
  heapCalls: 5_000_000,
};

/** What the command line asks for; throws on anything it does not know. */
export function benchOptions(args: string[]): BenchOptions {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      node: { type: 'string', multiple: true },
      only: { type: 'string', default: '' },
      readme: { type: 'boolean', default: false },
    },
  });
  const { node, quick, only, readme } = values;
  if (readme && only !== '') throw new Error('--readme needs all rows, and --only leaves some out');
  const nodes = node ?? [process.env.NODE ?? process.execPath];
  return { nodes, effort: { ...(quick ? QUICK : FULL), only }, readme };
}

export interface OneNodeOptions {
  readonly node: string;
  readonly effort: Effort;
}

/** The same for a suite that measures on one Node binary and has no part in the README's generated figures. */
export function oneNodeOptions(args: string[]): OneNodeOptions {
  const { nodes, effort, readme } = benchOptions(args);
  if (nodes.length > 1) throw new Error('only the local suite takes more than one --node');
  if (readme) throw new Error('only the local suite takes --readme');
  return { node: nodes[0] as string, effort };
}

/** What the command line asks for; ends the process with an explanation where it cannot be had. */
export function optionsOr<Options>(usage: string, parse: () => Options): Options {
  try {
    return parse();
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}

/** Whether a section or workload of that name is wanted. */
export function isWanted({ only }: Effort, name: string): boolean {
  return name.toLowerCase().includes(only.toLowerCase());
}
