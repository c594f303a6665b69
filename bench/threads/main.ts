// Threads that share a table, and those that ask another: npm run bench -- threads [--quick] [--node <path>]
import { oneNodeOptions, optionsOr } from '../options.ts';
import { progress } from '../progress.ts';
import { describe, originOf } from '../report.ts';
import { publish } from '../suite.ts';
import { measureThreads } from './section.ts';

const USAGE = `npm run bench -- threads [--quick] [--node <path>] [--only <text>]
  --quick         one process a row, and shorter samples
  --node <path>   measure on that Node binary (default: the variable NODE, else this one)
  --only <text>   only such as "shared, 2 workers, 1000 keys" that contain the text; keeps no report`;

const { node, effort } = optionsOr(USAGE, () => oneNodeOptions(process.argv.slice(2)));
const origin = originOf(node);
console.log(describe(origin, effort));
const measured = measureThreads(node, effort, progress);
publish({ name: 'threads', title: 'Threads', origin, effort, measured });
