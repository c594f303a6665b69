// `node scripts/stress.js`: the thread suites at full length. --kills <n> workers terminated (default 10,000) and
// --seconds <n> of churn for each algorithm (default 60).
import { parseArgs } from 'node:util';
import { fail, runTool } from './run.js';
import './setup.js';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '60' },
  },
});
const env = { ...process.env, KILLS: values.kills, CHURN_SECONDS: values.seconds };
const suites = ['test/threads/terminate.test.ts', 'test/threads/churn.test.ts'];
// One after the other: both want all cores.
const args = ['run', '--no-file-parallelism', ...suites];
if (runTool('vitest/vitest.mjs', args, { env }) !== 0) fail('the stress test failed');
