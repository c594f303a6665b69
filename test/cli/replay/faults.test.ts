import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { combined, file, replay, replayed } from './run.ts';

const LIMIT = ['--limit', '100/60s'];
const T0 = Date.UTC(2026, 0, 1);
const log = file('good.log', combined(T0, '192.0.2.1'));
const packed = gzipSync(
  combined(T0, '192.0.2.1').repeat(1000) + randomBytes(50_000).toString('hex'),
);

/** Begins otherwise than a gzip file does. */
const junk = Buffer.concat([Buffer.of(0, 1), randomBytes(100_000)]);

/** Every answer here is a few lines for a person. */
async function refusal(args: readonly string[], input?: string | Buffer) {
  const { code, stdout, stderr } = await replay(args, input);
  expect(stdout).toBe('');
  expect(stderr).toMatch(
    /^sluicegate: [^\n]+\n(Did you [^\n]+\nTo specify [^\n]+\n)?(See: sluicegate --help\n)?$/,
  );
  expect(stderr).not.toMatch(/\.js:\d|Error:|\bat \//);
  return { code, message: stderr.split('\n', 1)[0]?.replace('sluicegate: ', '') };
}

describe('a log that cannot be replayed ends with exit code 1:', () => {
  it.each([
    ['an empty file', file('empty.log'), 'empty.log is empty: there is nothing to replay'],
    ['blank lines only', file('blank.log', '\n\r\n\n'), /^no line of blank.log could be read/],
    ['a missing file', '/nowhere/access.log', 'cannot read access.log: there is no such file'],
    ['a folder', tmpdir(), / this is a folder, not a file$/],
    ['binary junk', file('junk.bin', junk), /^junk.bin is no text/],
    ['gzip of junk', file('junk.gz', gzipSync(junk)), /^junk.gz is no text/],
    [
      'gzip cut off',
      file('cut.gz', packed.subarray(0, 20_000)),
      /cut.gz: the gzip data ends too early$/,
    ],
    [
      'damaged gzip',
      file('bad.gz', Buffer.concat([packed.subarray(0, 20), randomBytes(20_000)])),
      /^cannot read bad.gz: the gzip data (is damaged|ends too early)$/,
    ],
    [
      'prose',
      file('prose.txt', 'Dear reader,\n\nonce upon a time\n'),
      /its first line is "Dear reader,"/,
    ],
    [
      'JSON without times',
      file('timeless.json', '{"ip":"192.0.2.1"}\n'.repeat(20)),
      /\(no time in time\)/,
    ],
    [
      'CSV without times',
      file('timeless.csv', 'ip,path\n192.0.2.1,/\n'),
      /^timeless.csv has no line that looks like/,
    ],
    [
      'CSV without addresses',
      file('keyless.csv', 'time,path\n2026-01-01T00:00:00Z,/\n'),
      'keyless.csv has no column for the ip; name one of its columns with --key, --cost or --group-by: time, path',
    ],
    [
      'JSON without addresses',
      file('keyless.json', '{"time":"2026-01-01T00:00:00Z"}\n'),
      /^no line of keyless.json has a key \(ip\); name another with --key/,
    ],
  ])('%s', async (_, path, message) => {
    const answer = await refusal([path, ...LIMIT]);
    expect(answer).toEqual({
      code: 1,
      message: message instanceof RegExp ? expect.stringMatching(message) : message,
    });
  });

  it('nothing on standard input', async () => {
    expect(await refusal(['-', ...LIMIT], '')).toEqual({
      code: 1,
      message: 'standard input is empty: there is nothing to replay',
    });
  });

  it('a combined log asked for a field of JSON', async () => {
    const { code, message } = await refusal([log, ...LIMIT, '--key', 'header:x-api-key']);
    expect(code).toBe(1);
    expect(message).toContain("good.log is a combined log, which has no header 'x-api-key'");
  });

  it('a quote in CSV that nobody closes', async () => {
    const path = file('open.csv', `time,ip\n2026-01-01,"${'192.0.2.1\n'.repeat(3e6)}`);
    const { code, message } = await refusal([path, ...LIMIT]);
    expect({ code, message }).toEqual({
      code: 1,
      message: 'open.csv: the quote that opens in line 2 is never closed',
    });
  });
});

describe('an option that means nothing ends with exit code 2:', () => {
  it.each([
    [[], 'no log given: name files, or - for standard input'],
    [[log], 'no limit given: --limit 100/60s'],
    [
      [log, '--limit', '0/60s'],
      /^'0\/60s' is no limit: the limit must be a whole number from 1 to \d+; got 0$/,
    ],
    [[log, '--limit', '5/0s'], /^'5\/0s' is no limit: the window must be whole microseconds/],
    [[log, '--limit', '5/900d'], /^'5\/900d' is no limit/],
    [[log, '--limit', '-5/60s'], /^option '--limit' argument is ambiguous/],
    [
      [log, '--limit', 'fast'],
      "a limit is written like 100/60s, 20/500ms, 5/m, 1000/h or 10000/d; got 'fast'",
    ],
    [[log, '--limit', '5/3weeks'], /^a limit is written like/],
    [[log, '--limit', '1e3/60s'], /^a limit is written like/],
    [[log, ...LIMIT, '--bogus'], "unknown option '--bogus'"],
    [
      [log, ...LIMIT, '--algorithm', 'leaky'],
      /^--algorithm must be one of token-bucket, .*; got 'leaky'$/,
    ],
    [
      [log, ...LIMIT, '--format', 'xml'],
      /^--format must be one of combined, common, json, csv, auto; got/,
    ],
    [[log, ...LIMIT, '--key', 'header:'], /^--key must be ip, /],
    [[log, ...LIMIT, '--suggest', '101'], /^--suggest must be a percentage from 0 to 100/],
    [[log, ...LIMIT, '--suggest', 'few'], /^--suggest must be a percentage/],
    [[log, ...LIMIT, '--top', '-1'], /^option '--top' argument is ambiguous/],
    [
      [log, ...LIMIT, '--ipv6-prefix', '129'],
      "--ipv6-prefix must be a whole number from 1 to 128; got '129'",
    ],
    [[log, '--limit', '2000000/60s', '--algorithm', 'all'], /^'2000000\/60s' is no limit for /],
  ])('%j', async (args, message) => {
    expect(await refusal(args)).toEqual({
      code: 2,
      message: message instanceof RegExp ? expect.stringMatching(message) : message,
    });
  });
});

describe('lines that are left out', () => {
  const good = (second: number) => combined(T0 + second * 1000, '192.0.2.1');
  const bad = [
    'not a line of a log\n',
    '192.0.2.1 - - [01/Foo/2026:00:00:10 +0000] "GET / HTTP/1.1" 200 1\n',
    '192.0.2.1 - - [01/Jan/2026:00:00:10 +0000] "GET / HTTP/1.1" 2',
    '\n\n192.0.2.1 - - [01/Jan/2026:00:00:10 +0000] "GET / HT',
    `\n${'x'.repeat(3 * 1024 * 1024)}\n`,
  ];

  it('are counted and told with their numbers', async () => {
    const text = `${good(5)}${good(10)}${good(9)}\r\n${bad.join('')}${good(11)}${good(4)}`;
    const result = await replayed(['-', ...LIMIT], text);
    expect(result).toMatchObject({ requests: 3, lines: 12 });
    expect(result.skipped).toEqual({
      broken: {
        count: 5,
        lines: [
          '5 (no [time])',
          '6 (no [time] like [10/Oct/2000:13:55:36 -0700])',
          '7 (no status)',
          '9 (no end of "request")',
          '10 (longer than 1 MiB)',
        ],
      },
      outOfOrder: { count: 2, lines: ['3', '12'] },
      withoutKey: { count: 0, lines: [] },
    });
  });

  it('are told with their files, of which the oldest is replayed first', async () => {
    const newer = file('access.log', good(20) + good(19));
    const older = file('access.log.1', good(10) + good(9));
    const { files, requests, skipped } = await replayed([newer, older, ...LIMIT]);
    expect({ files, requests }).toEqual({ files: ['access.log.1', 'access.log'], requests: 2 });
    expect(skipped.outOfOrder).toEqual({ count: 2, lines: ['access.log.1:2', 'access.log:2'] });
  });

  it('are told in words beside the table', async () => {
    const { code, stdout } = await replay(['-', ...LIMIT], `${good(1)}?\n${good(0)}`);
    expect(code).toBe(0);
    expect(stdout).toContain('skipped 1 line broken: 2 (no [time])\n');
    expect(stdout).toContain('skipped 1 line out of order: 3\n');
  });
});
