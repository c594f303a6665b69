// How far from the metal: npm run bench -- native [--quick] [--node <path>]
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { benchOptions } from '../options.ts';
import { jobRunner } from '../processes.ts';
import { progress } from '../progress.ts';
import { asMarkdown, asText } from '../render.ts';
import { describe, originOf } from '../report.ts';
import { count } from '../sections/section.ts';
import { checkFloor } from './check.ts';
import { compileFloor, findCompiler } from './floor.ts';
import { measureFloor } from './section.ts';

// Compiled files lie three folders below the repository's root, in build/bench/native.
const folder = new URL('../../../bench/report/', import.meta.url);

const { node, effort: asked } = benchOptions(process.argv.slice(2));
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
  const { rows, section } = measureFloor(jobRunner(node), effort, progress);
  progress('');
  console.log(`\n${asText(section)}`);
  mkdirSync(folder, { recursive: true });
  const json = { schema: 1, origin, effort, native: rows };
  writeFileSync(new URL('native.json', folder), `${JSON.stringify(json, null, 2)}\n`);
  const markdown = ['# The floor', describe(origin, effort), asMarkdown(section)].join('\n\n');
  writeFileSync(new URL('native.md', folder), `${markdown}\n`);
  console.log(`\nKept in ${fileURLToPath(folder)}`);
}
