// `npm run docs`: writes the pages under docs/ that the built code knows best. --check only compares.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MAX_CLOCK_MS } from '../dist/clock.js';
import { MAX_KEYS } from '../dist/core/front.js';
import {
  bucketPolicy,
  largestCounterLimit,
  MAX_PERIOD_US,
  MAX_RATE_TOKENS,
} from '../dist/options.js';
import { fail, root } from './run.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const WINDOWS = [
  ['1 ms', 1],
  ['1 s', SECOND],
  ['1 min', MINUTE],
  ['1 h', HOUR],
  ['1 d', DAY],
  ['30 d', 30 * DAY],
  ['365 d', 365 * DAY],
];

const REFILLS = [
  [1_000, '1 s', SECOND],
  [100, '1 s', SECOND],
  [10, '1 s', SECOND],
  [1, '1 s', SECOND],
  [100, '1 min', MINUTE],
  [1, '1 min', MINUTE],
  [1_000, '1 h', HOUR],
  [1, '1 h', HOUR],
  [1_000, '1 d', DAY],
  [1, '1 d', DAY],
  [1, '30 d', 30 * DAY],
  [1, '365 d', 365 * DAY],
];

const number = (value) => value.toLocaleString('en');

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |\n`;
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('');
}

function isLegalBucket(options) {
  try {
    bucketPolicy(options);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** What the check of options lets pass, found by halving. */
function largestCapacity(refillTokens, refillIntervalMs) {
  let legal = 0;
  let illegal = Number.MAX_SAFE_INTEGER + 1;
  while (illegal - legal > 1) {
    const capacity = legal + Math.floor((illegal - legal) / 2);
    if (isLegalBucket({ capacity, refillTokens, refillIntervalMs })) legal = capacity;
    else illegal = capacity;
  }
  return legal;
}

function rangesPage() {
  const longest = `${number(MAX_PERIOD_US / 1_000)} (365 days)`;
  const most = number(Number.MAX_SAFE_INTEGER);
  return `<!-- Written by \`npm run docs\` from the code. A test compares. -->
# Legal ranges

Inside these ranges all arithmetic is exact. A value outside is refused with an error that names the legal range:
options when the limiter is made, a cost before anything is spent.

## Options and arguments

${table(
  ['what', 'least', 'most'],
  [
    ['`capacity`, `refillTokens`', '1', `${most}, and see below`],
    ['`refillIntervalMs`, `windowMs`: in whole microseconds', '0.001', longest],
    ['`refillPerSecond`', 'above 0', 'see below'],
    ['`limit` of a window', '1', 'see below'],
    ['`maxKeys`', '1', number(MAX_KEYS)],
    ['`cost`', '0', most],
    ['a number as key', '0', most],
    ['a reading of the clock, in milliseconds', number(-MAX_CLOCK_MS), number(MAX_CLOCK_MS)],
  ],
)}
## Sliding window counter

Two counts and the number of their window share 63 bits.

${table(
  ['window', 'largest limit'],
  WINDOWS.map(([name, ms]) => [name, number(largestCounterLimit(ms * 1_000))]),
)}
## Token bucket

The rate is reduced to lowest terms: 100 tokens per 60 s are 1 token per 600,000 microseconds. Then the tokens must be
at most ${number(MAX_RATE_TOKENS)}, the microseconds at most 365 days, and capacity x microseconds at most 2^60.

A key may be silent for (2^62 - capacity x microseconds) / tokens microseconds (in a shared table 36 minutes less): ten
years and more for usual limits, and 22 days at the far corner of both ranges. Past that it can be taken for one that
still owes, for a while; never is anybody given more than the limit.

${table(
  ['refill', 'largest capacity'],
  REFILLS.map(([tokens, name, ms]) => [
    `${number(tokens)} per ${name}`,
    number(largestCapacity(tokens, ms)),
  ]),
)}`;
}

const PAGES = { 'docs/ranges.md': rangesPage };
const check = process.argv.includes('--check');

for (const [name, page] of Object.entries(PAGES)) {
  const file = join(root, name);
  const text = page();
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  if (check) fail(`${name} is not what the code says; run: npm run docs`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  console.log(`docs: wrote ${name}`);
}
