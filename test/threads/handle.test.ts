import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import {
  attach,
  type LimiterHandle,
  type LimiterStats,
  type Policy,
  SlidingWindowCounterLimiter,
  TokenBucketLimiter,
} from '../../src/index.ts';
import { ManualClock } from '../../src/testing.ts';
import { messageOf, startWorker } from '../support/threads/crew.ts';
import { inspect } from '../support/threads/inspection.ts';

interface Report {
  readonly policy: Policy;
  readonly allowed: readonly boolean[];
  readonly stats: LimiterStats;
  readonly error?: { readonly name: string; readonly code: string; readonly message: string };
}

/** Three permits, none of which comes back while a test runs. */
const POLICY = { capacity: 3, refillTokens: 1, refillIntervalMs: 3_600_000 };

function bucket(options: { clock?: () => number; maxKeys?: number; name?: string } = {}) {
  return new TokenBucketLimiter({ ...POLICY, shared: true, ...options });
}

const workers: Worker[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.terminate()));
});

function start(script: string, data: unknown): Worker {
  const worker = startWorker(script, data);
  workers.push(worker);
  return worker;
}

function count(answers: readonly boolean[]): number {
  return answers.filter(Boolean).length;
}

function errorOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('a handle', () => {
  it('goes through workerData', async () => {
    const limiter = bucket();
    limiter.isAllowed('key');
    const worker = start('attached.js', { handle: limiter.handle, calls: 5 });
    const { allowed } = await messageOf<Report>(worker);
    expect(allowed).toEqual([true, true, false, false, false]);
    expect(limiter.isAllowed('key')).toBe(false);
  });

  it('goes through postMessage', async () => {
    const limiter = bucket();
    const worker = start('attached.js', {});
    worker.postMessage({ handle: limiter.handle, calls: 2 });
    const { allowed } = await messageOf<Report>(worker);
    expect(allowed).toEqual([true, true]);
    expect([limiter.isAllowed('key'), limiter.isAllowed('key')]).toEqual([true, false]);
  });

  it('comes from a worker that has ended since', async () => {
    const options = { ...POLICY, maxKeys: 10, name: 'left behind' };
    const creator = start('creator.js', { kind: 'TokenBucketLimiter', options });
    const handle = await messageOf<LimiterHandle>(creator);
    await creator.terminate();
    const limiter = attach(handle);
    expect(limiter.policy.name).toBe('left behind');
    expect(limiter.stats().maxKeys).toBe(10);
    expect(Array.from({ length: 4 }, () => limiter.isAllowed('key'))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    const worker = start('attached.js', { handle: limiter.handle, calls: 1 });
    expect((await messageOf<Report>(worker)).allowed).toEqual([false]);
  });

  it('keeps the table alive when every limiter is closed', () => {
    const limiter = bucket();
    const { handle } = limiter;
    limiter.isAllowed('key', 3);
    limiter.close();
    expect(attach(handle).isAllowed('key')).toBe(false);
  });

  it('is not to be had from a closed limiter', () => {
    const limiter = bucket();
    limiter.close();
    expect(errorOf(() => limiter.handle)).toMatchObject({ code: 'ERR_CLOSED' });
  });

  it('is not to be had from a private limiter, whose error names the cure', () => {
    const limiter = new TokenBucketLimiter(POLICY);
    expect(errorOf(() => limiter.handle)).toMatchObject({
      name: 'SluicegateTypeError',
      code: 'ERR_NOT_SHARED',
      message: expect.stringContaining('shared: true'),
    });
  });

  it('carries policy and name, but no options: the same of both algorithms', async () => {
    const limiters = [
      bucket({ name: 'bucket' }),
      new SlidingWindowCounterLimiter({ limit: 7, windowMs: 1_500, name: 'counter', shared: true }),
    ];
    for (const limiter of limiters) {
      const worker = start('attached.js', { handle: limiter.handle });
      const { policy } = await messageOf<Report>(worker);
      expect(policy).toEqual(limiter.policy);
    }
  });
});

describe('attaching', () => {
  it('twice in a thread gives two limiters with one table, each closed on its own', () => {
    const limiter = bucket();
    const [one, two] = [attach(limiter.handle), attach(limiter.handle)];
    expect([one.isAllowed('key'), two.isAllowed('key')]).toEqual([true, true]);
    one.close();
    one.close();
    expect(errorOf(() => one.isAllowed('key'))).toMatchObject({ code: 'ERR_CLOSED' });
    expect([two.isAllowed('key'), limiter.isAllowed('key')]).toEqual([true, false]);
    limiter.close();
    expect(two.isAllowed('other')).toBe(true);
    expect(attach(two.handle).isAllowed('key')).toBe(false);
  });

  it('wipes nothing that the table holds', async () => {
    const limiter = bucket();
    const table = inspect(limiter.handle);
    for (let key = 0; key < 1_000; key++) limiter.isAllowed(key, 3);
    const slots = Array.from({ length: 1_000 }, (_, key) => table.slotWith(table.tagOfNumber(key)));
    const states = slots.map((slot) => table.stateAt(slot));
    const worker = start('attached.js', { handle: limiter.handle });
    await messageOf<Report>(worker);
    attach(limiter.handle);
    expect(slots.map((slot) => table.stateAt(slot))).toEqual(states);
    expect(limiter.isAllowed(0)).toBe(false);
  });

  it('counts allowed and denied for each limiter object, and all else for the table', async () => {
    const limiter = bucket({ maxKeys: 1 });
    const other = attach(limiter.handle);
    const worker = start('attached.js', { handle: limiter.handle, calls: 5 });
    const its = (await messageOf<Report>(worker)).stats;
    expect(its).toMatchObject({ allowed: 3, denied: 2, liveKeys: 1 });
    for (let key = 0; key < 100; key++) other.isAllowed(key);
    expect(limiter.stats()).toMatchObject({ allowed: 0, denied: 0 });
    const { allowed, denied, ...all } = other.stats();
    expect(allowed + denied).toBe(100);
    expect(all.overflowed).toBeGreaterThan(0);
    expect(limiter.stats()).toMatchObject(all);
  });

  it('needs the clock where the creator had one of its own', async () => {
    const clock = new ManualClock(1.7e12);
    const limiter = bucket({ clock: clock.now });
    const { handle } = limiter;
    const missing = { name: 'SluicegateTypeError', code: 'ERR_INVALID_CLOCK' };
    expect(errorOf(() => attach(handle))).toMatchObject(missing);
    const worker = start('attached.js', { handle });
    const { error } = await messageOf<Report>(worker);
    expect(error).toMatchObject(missing);
    expect(error?.message).toContain('attach(handle, { clock })');
    worker.postMessage({ handle, clock: clock.shared, calls: 4 });
    expect(count((await messageOf<Report>(worker)).allowed)).toBe(3);
    clock.advance(POLICY.refillIntervalMs);
    expect([limiter.isAllowed('key'), limiter.isAllowed('key')]).toEqual([true, false]);
  });

  it('ends with its worker: the creator goes on', async () => {
    const limiter = bucket();
    const worker = start('attached.js', { handle: limiter.handle, calls: 1 });
    await messageOf<Report>(worker);
    const ended = once(worker, 'exit');
    await worker.terminate();
    await ended;
    expect([limiter.isAllowed('key'), limiter.isAllowed('key')]).toEqual([true, true]);
    expect(limiter.isAllowed('key')).toBe(false);
  });
});

describe('a handle that is none', () => {
  const kind = 'sluicegate/limiter';
  const someMemory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a string', 'handle'],
    ['a limiter', bucket()],
    ['an object of another kind', { kind: 'other', memory: someMemory }],
    ['no memory', { kind }],
    ['a buffer', { kind, memory: new SharedArrayBuffer(65_536) }],
    ['a private memory', { kind, memory: new WebAssembly.Memory({ initial: 1 }) }],
    ['an empty memory', { kind, memory: someMemory }],
  ])('is refused: %s', (_, handle) => {
    const error = errorOf(() => attach(handle as LimiterHandle));
    expect(error).toMatchObject({
      name: 'SluicegateTypeError',
      code: 'ERR_INVALID_HANDLE',
      message: expect.stringContaining('shared: true'),
    });
  });

  // The header as assembly/layout.ts draws it, in 32-bit words.
  it.each([
    ['magic', 0, 0x12345678],
    ['algorithm', 2, 3],
    ['maxKeys', 3, 5],
    ['maxKeys beyond the memory', 3, 80_000_000],
    ['number of sets', 10, 0],
    ['number of cells', 11, 1 << 30],
    ['address of the overflow cells', 12, 0],
    ['address of the sets', 13, 0xffff_ff00],
    ['size of the name', 15, 100_000],
    ['first word of the policy', 16, 0],
    ['second word of the policy', 18, 0],
    ['fourth word of the policy', 22, 1],
  ])('is refused: damaged %s', (_, word, value) => {
    const handle = damaged(word, value);
    expect(errorOf(() => attach(handle))).toMatchObject({ code: 'ERR_INVALID_HANDLE' });
  });

  it('is refused with the cure where another release has made it', async () => {
    const handle = damaged(1, 2);
    const expected = {
      name: 'SluicegateTypeError',
      code: 'ERR_INVALID_HANDLE',
      message: expect.stringMatching(/version 2.*one release of sluicegate in all threads/),
    };
    expect(errorOf(() => attach(handle))).toMatchObject(expected);
    const worker = start('attached.js', { handle });
    expect((await messageOf<Report>(worker)).error).toMatchObject(expected);
  });

  function damaged(word: number, value: number): LimiterHandle {
    const { handle } = bucket();
    new Uint32Array((handle.memory as WebAssembly.Memory).buffer)[word] = value;
    return handle;
  }
});

describe('address space', () => {
  const script = fileURLToPath(new URL('workers/limiters.js', import.meta.url));
  const SCARCE = {
    name: 'SluicegateRangeError',
    code: 'ERR_OUT_OF_MEMORY',
    message: expect.stringMatching(/maxKeys: 1.*ulimit -v/),
  };

  interface Made {
    readonly made: number;
    readonly working: boolean;
    readonly error?: unknown;
  }

  /** A process that makes up to so many limiters, within so many kilobytes of address space. */
  async function limiters(
    most: number,
    kind: string,
    kilobytes: number | 'unlimited',
  ): Promise<Made> {
    const command = `ulimit -v ${kilobytes}; exec "$0" "$@"`;
    const args = ['-c', command, process.execPath, script, `${most}`, kind];
    const { stdout } = await promisify(execFile)('sh', args);
    return JSON.parse(stdout);
  }

  // How much a memory reserves depends on the Node version; every thread has one beside those of its limiters.
  it.runIf(process.platform === 'linux').each([
    [20_000_000, 0, 'private'],
    [20_000_000, 0, 'shared'],
    [30_000_000, 1, 'private'],
    [30_000_000, 1, 'shared'],
  ])(
    'ends under ulimit -v %i with a clear error, after %i or more %s limiters that go on',
    async (kilobytes, least, kind) => {
      const { made, working, error } = await limiters(10, kind, kilobytes);
      expect({ working, error }).toEqual({ working: true, error: SCARCE });
      expect(made).toBeGreaterThanOrEqual(least);
      expect(made).toBeLessThan(4);
    },
  );

  it('is enough for 2,000 shared limiters in a process', async () => {
    expect(await limiters(2_000, 'shared', 'unlimited')).toEqual({ made: 2_000, working: true });
  });

  it('bounds maxKeys: the error names the largest', () => {
    expect(errorOf(() => bucket({ maxKeys: 90_000_001 }))).toMatchObject({
      name: 'SluicegateRangeError',
      code: 'ERR_INVALID_OPTION',
      message: expect.stringContaining('90000000'),
    });
  });
});
