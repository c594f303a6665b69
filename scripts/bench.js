// `npm run bench [-- SUITE] [options]`: compiles bench/ and the sources it measures into build/, then runs one suite, or
// all of them in turn. `--quick` makes each short.
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

const args = process.argv.slice(2);
const chosen = args[0] in SUITES ? [args.shift()] : Object.keys(SUITES);

if (runTool('typescript/bin/tsc', ['-p', 'tsconfig.bench.json']) !== 0)
  fail('bench did not compile');
for (const suite of chosen) {
  console.log(`\nbench: ${suite}`);
  const status = run(process.execPath, ['--expose-gc', `build/bench/${SUITES[suite]}`, ...args]);
  if (status !== 0) process.exitCode = status;
}
