// Explores the whole sample of three-thread programs, which takes minutes: node scripts/explore.js [programs] [first seed]
import { runTool } from './run.js';

const [programs = '200', first = '1'] = process.argv.slice(2);
const env = { ...process.env, EXPLORE_PROGRAMS: programs, EXPLORE_FIRST: first };
const args = ['run', 'test/model/protocol-sample.test.ts', '--disable-console-intercept'];
process.exitCode = runTool('vitest/vitest.mjs', args, { env });
