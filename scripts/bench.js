// `npm run bench [-- SUITE] [options]`: compiles bench/ and the sources it measures into build/, then runs one suite, or
// all of them in turn; with `--quick` and no name, the local one. `compare REF` sets this tree beside a git ref.
import { fail, run, runTool } from './run.js';
import './setup.js';

const SUITES = {
  local: 'main.js',
  threads: 'threads/main.js',
  redis: 'redis/main.js',
  http: 'http/main.js',
  replay: 'replay/main.js',
  native: 'native/main.js',
};
/** Run by name only: they need to be told what. */
const ASKED = { compare: 'compare/main.js' };

const args = process.argv.slice(2);
const programs = { ...SUITES, ...ASKED };
const unnamed = args.includes('--quick') ? ['local'] : Object.keys(SUITES);
const chosen = args[0] in programs ? [args.shift()] : unnamed;

if (runTool('typescript/bin/tsc', ['-p', 'tsconfig.bench.json']) !== 0)
  fail('bench did not compile');
for (const suite of chosen) {
  console.log(`\nbench: ${suite}`);
  const status = run(process.execPath, ['--expose-gc', `build/bench/${programs[suite]}`, ...args]);
  if (status !== 0) process.exitCode = status;
}
