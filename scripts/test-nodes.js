// `npm run test:nodes`: every suite on each Node we support beside the one in use.
// The binaries come from the npm packages node-<platform>-<arch>. Arguments name other majors.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureChromium } from './ensure-chromium.js';
import { ensureRedis } from './ensure-redis.js';
import { fail, npm, root, runTool } from './run.js';
import './setup.js';

const majors = process.argv.length > 2 ? process.argv.slice(2) : ['22', '24', '26'];
const platform = process.platform === 'win32' ? 'win' : process.platform;
const name = `node-${platform}-${process.arch}`;

function nodeBinary(major) {
  const folder = join(root, 'node_modules', '.cache', 'nodes', major);
  const binary = join(
    folder,
    'node_modules',
    name,
    'bin',
    platform === 'win' ? 'node.exe' : 'node',
  );
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', folder];
  if (npm([...args, `${name}@${major}`]) !== 0) fail(`could not install ${name}@${major}`);
  return binary;
}

const env = { ...process.env, REDIS_SERVER: ensureRedis(), CHROMIUM: ensureChromium() };
const failed = [];
for (const major of majors) {
  const node = nodeBinary(major);
  console.log(`\ntest: Node ${major}`);
  if (runTool('vitest/vitest.mjs', ['run'], { node, env }) !== 0) failed.push(major);
}
if (failed.length > 0) fail(`suites failed on Node ${failed.join(', ')}`);
console.log(`\nall suites passed on Node ${majors.join(', ')}`);
