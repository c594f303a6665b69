// Finds a redis-server for the Redis suites, or installs one. There is no run without it.
import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { fail, run } from './run.js';

const answers = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

function install() {
  console.log('redis: no redis-server found; installing it with apt-get');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const packages = ['install', '-y', '--no-install-recommends', 'redis-server'];
  if (run('apt-get', ['update'], { env }) !== 0 || run('apt-get', packages, { env }) !== 0) {
    fail('apt-get could not install redis-server');
  }
}

/** Returns the command that starts a Redis server: REDIS_SERVER, or the one in the PATH. */
export function ensureRedis() {
  const command = process.env.REDIS_SERVER || 'redis-server';
  if (answers(command, '--version')) return command;
  if (process.env.REDIS_SERVER) fail(`REDIS_SERVER=${command} does not answer --version`);
  if (process.getuid?.() === 0 && answers('apt-get', '--version')) install();
  if (answers(command, '--version')) return command;
  return fail(
    'the tests need redis-server 6.2 or newer: install it (apt install redis-server, brew install redis), ' +
      'or set REDIS_SERVER to its path',
  );
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log(ensureRedis());
