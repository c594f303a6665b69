// How far from the metal: npm run bench -- native [--quick] [--node <path>]
import { oneNodeOptions, optionsOr } from '../options.ts';
import { jobRunner } from '../processes.ts';
import { progress } from '../progress.ts';
import { describe, originOf } from '../report.ts';
import { count } from '../sections/section.ts';
import { publish } from '../suite.ts';
import { checkFloor } from './check.ts';
import { compileFloor, findCompiler } from './floor.ts';
import { measureFloor } from './section.ts';

const USAGE = `npm run bench -- native [--quick] [--node <path>]
  --quick         three processes of each instead of nine, and shorter samples
  --node <path>   measure on that Node binary (default: the variable NODE, else this one)`;

const { node, effort: asked } = optionsOr(USAGE, () => oneNodeOptions(process.argv.slice(2)));
const effort = { ...asked, rounds: asked.quick ? 3 : 9 };
const compiler = findCompiler();
if (compiler === undefined) {
  console.log('SKIPPED: no C compiler. Install one as `cc`, or set the variable CC to it.');
} else {
  measure(compiler);
}

function measure(compiler: string): void {
  compileFloor(compiler);
  const origin = originOf(node);
  console.log(describe(origin, effort));
  const { allowed, denied, overflowed, evictedIdle } = checkFloor();
  console.log(
    `\nChecked: the same answers to ${count(allowed + denied)} calls, ${count(denied)} of them denials; ` +
      `${count(evictedIdle)} slots changed hands, ${count(overflowed)} calls found none.`,
  );
  const measured = measureFloor(jobRunner(node), effort, progress);
  publish({ name: 'native', title: 'The floor', origin, effort, measured });
}
