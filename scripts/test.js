// `npm test`: types, lint, then every suite. Arguments go to vitest: npm test -- test/local
import { ensureChromium } from './ensure-chromium.js';
import { ensureRedis } from './ensure-redis.js';
import { fail, runTool } from './run.js';

function step(name, script, args) {
  console.log(`test: ${name}`);
  const code = runTool(script, args);
  if (code !== 0) fail(`${name} failed (exit code ${code}); no tests were run`);
}

step('types', 'typescript/bin/tsc', ['--noEmit']);
step('lint', '@biomejs/biome/bin/biome', ['check', '--error-on-warnings']);

const env = { ...process.env, REDIS_SERVER: ensureRedis(), CHROMIUM: ensureChromium() };
process.exitCode = runTool('vitest/vitest.mjs', ['run', ...process.argv.slice(2)], { env });
