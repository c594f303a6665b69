// What a change does to the time of a call: npm run bench -- compare <git ref> [--quick] [--node <path>]
//
// Builds the ref in a temporary folder and runs this tree's timing on both, process by process in turn. This tree is
// taken as it is, with what is not committed.
import { mkdirSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout, setImmediate as turn } from 'node:timers/promises';
import { type BenchOptions, benchOptions } from '../options.ts';
import { progress } from '../progress.ts';
import { asMarkdown, asText } from '../render.ts';
import { describe, originOf } from '../report.ts';
import { buildCommit, CompareError, commitOf, root, temporaryFolder } from './checkout.ts';
import { measureBoth } from './section.ts';

const USAGE = `npm run bench -- compare <git ref> [--quick] [--node <path>]
  <git ref>       what to compare with: a branch, a tag, HEAD~3, ...
  --quick         isAllowed only, and shorter samples
  --node <path>   measure on that Node binary (default: the variable NODE, else this one)`;

const QUICK_ROUNDS = 5;
const ROUNDS = 8;

interface CompareOptions extends BenchOptions {
  readonly ref: string;
}

function options([ref, ...rest]: string[]): CompareOptions {
  try {
    if (ref === undefined || ref.startsWith('-')) throw new Error('name a git ref');
    const { node, effort } = benchOptions(rest);
    return { ref, node, effort: { ...effort, rounds: effort.quick ? QUICK_ROUNDS : ROUNDS } };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function compare({ ref, node, effort }: CompareOptions): Promise<void> {
  const commit = commitOf(ref);
  const title = `This tree against ${ref}: ${commit.hash.slice(0, 10)}, ${commit.subject}`;
  console.log(`${title}\nBuilding it in a temporary folder ...`);
  const there = buildCommit(commit, temporaryFolder());
  await turn();
  const origin = originOf(node);
  console.log(describe(origin, effort));
  const here = join(root, 'dist');
  const { rows, section } = await measureBoth(node, { here, there }, effort, progress);
  progress('');
  console.log(`\n${asText(section)}`);
  const folder = join(root, 'bench', 'report');
  mkdirSync(folder, { recursive: true });
  const json = { schema: 1, origin, effort, commit, compare: rows };
  writeFileSync(join(folder, 'compare.json'), `${JSON.stringify(json, null, 2)}\n`);
  const markdown = [`# ${title}`, describe(origin, effort), asMarkdown(section)].join('\n\n');
  writeFileSync(join(folder, 'compare.md'), `${markdown}\n`);
  console.log(`\nKept in ${folder}`);
}

const asked = options(process.argv.slice(2));
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
