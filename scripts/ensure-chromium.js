// Finds a Chromium for the suites that open pages, or installs one. There is no run without it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { fail, run } from './run.js';

const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

const answers = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** The path of a command in the PATH, which is what a browser's driver wants. */
function pathOf(command) {
  if (command.includes('/')) return existsSync(command) ? command : undefined;
  const { status, stdout } = spawnSync('sh', ['-c', `command -v ${command}`], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

function found() {
  const paths = NAMES.map(pathOf).filter((path) => path !== undefined);
  return paths.find((path) => answers(path, '--version'));
}

function install() {
  console.log('chromium: none found; installing it with apt-get');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const packages = ['install', '-y', '--no-install-recommends', 'chromium'];
  if (run('apt-get', ['update'], { env }) !== 0 || run('apt-get', packages, { env }) !== 0) {
    fail('apt-get could not install chromium');
  }
}

/** Returns the path of a Chromium or a Chrome: CHROMIUM, or one in its usual places. */
export function ensureChromium() {
  const chosen = process.env.CHROMIUM;
  if (chosen)
    return answers(chosen, '--version')
      ? chosen
      : fail(`CHROMIUM=${chosen} does not answer --version`);
  const known = found();
  if (known !== undefined) return known;
  if (process.getuid?.() === 0 && answers('apt-get', '--version')) install();
  return (
    found() ??
    fail(
      'the tests need Chromium or Chrome: install it (apt install chromium), or set CHROMIUM to its path',
    )
  );
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log(ensureChromium());
