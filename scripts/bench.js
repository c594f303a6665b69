// `npm run bench`: compiles bench/ and the sources it measures into build/, then runs it with the arguments given.
import { fail, run, runTool } from './run.js';
import './setup.js';

if (runTool('typescript/bin/tsc', ['-p', 'tsconfig.bench.json']) !== 0)
  fail('bench did not compile');
process.exitCode = run(process.execPath, [
  '--expose-gc',
  'build/bench/main.js',
  ...process.argv.slice(2),
]);
