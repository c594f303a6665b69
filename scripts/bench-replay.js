// `npm run bench:replay`: compiles bench/replay/ into build/, then runs it with the arguments given.
import { fail, run, runTool } from './run.js';
import './setup.js';

if (runTool('typescript/bin/tsc', ['-p', 'tsconfig.bench.json']) !== 0)
  fail('bench did not compile');
process.exitCode = run(process.execPath, ['build/bench/replay/main.js', ...process.argv.slice(2)]);
