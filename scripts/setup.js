// Brings a fresh clone, or one with new commits, to where everything can run: install, then build.
// What is up to date already is left alone; --force builds all the same.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.js';
import { fail, npm, root } from './run.js';

const STAMP = join(root, 'node_modules', '.sluicegate-lock');

function install() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === lock) return;
  console.log('setup: npm ci');
  if (npm(['ci', '--include=dev', '--no-audit', '--no-fund']) !== 0) fail('npm ci failed');
  writeFileSync(STAMP, lock);
}

install();
build({ force: process.argv.includes('--force') });
