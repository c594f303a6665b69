// What a change does to the time of a call: npm run bench -- compare <git ref> [--quick] [--node <path>] [--only <text>]
//
// Builds the ref in a temporary folder and runs this tree's timing on both, process by process in turn. This tree is
// taken as it is, with what is not committed.
import { constants } from 'node:os';
import { setTimeout, setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type OneNodeOptions, oneNodeOptions, optionsOr } from '../options.ts';
import { progress } from '../progress.ts';
import { describe, originOf } from '../report.ts';
import { root } from '../root.ts';
import { publish } from '../suite.ts';
import { buildCommit, CompareError, commitOf, temporaryFolder } from './checkout.ts';
import { measureBoth } from './section.ts';

const USAGE = `npm run bench -- compare <git ref> [--quick] [--node <path>] [--only <text>]
  <git ref>       what to compare with: a branch, a tag, HEAD~3, ...
  --quick         the most important rows only, and shorter samples
  --node <path>   measure on that Node binary (default: the variable NODE, else this one)
  --only <text>   only workloads whose name contains the text; keeps no report`;

const QUICK_ROUNDS = 5;
const ROUNDS = 8;

interface CompareOptions extends OneNodeOptions {
  readonly ref: string;
}

function compareOptions([ref, ...rest]: string[]): CompareOptions {
  if (ref === undefined || ref.startsWith('-')) throw new Error('name a git ref');
  const { node, effort } = oneNodeOptions(rest);
  return { ref, node, effort: { ...effort, rounds: effort.quick ? QUICK_ROUNDS : ROUNDS } };
}

async function compare({ ref, node, effort }: CompareOptions): Promise<void> {
  const commit = commitOf(ref);
  const title = `This tree against ${ref}: ${commit.hash.slice(0, 10)}, ${commit.subject}`;
  console.log(`${title}\nBuilding it in a temporary folder ...`);
  const there = buildCommit(commit, temporaryFolder());
  await turn();
  const origin = originOf(node);
  console.log(describe(origin, effort));
  const here = fileURLToPath(new URL('dist', root));
  const measured = await measureBoth(node, { here, there }, effort, progress);
  publish({ name: 'compare', title, origin, effort, measured, facts: { commit } });
}

const asked = optionsOr(USAGE, () => compareOptions(process.argv.slice(2)));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => process.exit(128 + constants.signals[signal]));
}
try {
  await compare(asked);
} catch (error) {
  progress('');
  // Ctrl-C ends the child as well: leave the signal the time to end us, who would blame the child.
  await setTimeout(100);
  if (!(error instanceof CompareError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
