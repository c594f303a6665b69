// `npm run bench:http`: compiles bench/ and the sources it measures into build/, then measures what a limiter adds to a request.
import { fail, run, runTool } from './run.js';
import './setup.js';

if (runTool('typescript/bin/tsc', ['-p', 'tsconfig.bench.json']) !== 0)
  fail('bench did not compile');
process.exitCode = run(process.execPath, ['build/bench/http/main.js', ...process.argv.slice(2)]);
