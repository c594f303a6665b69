// Plays schedules of the limiters across machines, seed after seed: node scripts/simulate.js [schedules] [first seed].
// 100,000 take about twenty minutes; one alone is told step by step.
import { runTool } from './run.js';

const [schedules = '100000', first = '1'] = process.argv.slice(2);
const env = { ...process.env, SIMULATE_SCHEDULES: schedules, SIMULATE_FIRST: first };
const args = ['run', 'test/simulation', '--disable-console-intercept'];
process.exitCode = runTool('vitest/vitest.mjs', args, { env });
