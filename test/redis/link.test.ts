import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { RedisFixedWindowLimiter } from '../../src/redis.ts';
import { SEAM } from '../../src/timers.ts';
import { ManualTimers, settled } from '../support/manual-timers.ts';

const SERVER_US = 1_700_000_000_000_000;

type Reply = (args: unknown[]) => Promise<unknown>;

/** A client whose server is the test. */
class FakeClient extends EventEmitter {
  isCluster = false;
  status = 'ready';
  options = {};
  sent: unknown[][] = [];
  connects = 0;
  answer: Reply;
  readonly timers: ManualTimers;
  timeAnswer: (() => Promise<[string, string]>) | undefined;

  constructor(timers: ManualTimers) {
    super();
    this.timers = timers;
    this.answer = async (args) => this.granted(args);
  }

  serverUs(): number {
    return SERVER_US + this.timers.now() * 1000;
  }

  /** The time, and an allowing answer for each key. */
  granted(args: unknown[]): unknown[] {
    const keys = typeof args[0] === 'number' ? args[0] : 1;
    return [this.serverUs(), ...Array.from({ length: keys }, () => [1, 1, 0, 0]).flat()];
  }

  defineCommand(name: string): void {
    Object.assign(this, {
      [name]: (...args: unknown[]) => {
        this.sent.push(args);
        return this.answer(args);
      },
    });
  }

  time(): Promise<[string, string]> {
    if (this.timeAnswer) return this.timeAnswer();
    const us = this.serverUs();
    return Promise.resolve([`${Math.floor(us / 1e6)}`, `${us % 1e6}`]);
  }

  async connect(): Promise<void> {
    this.connects++;
  }

  pipeline(): unknown {
    const calls: unknown[][] = [];
    const add = (...args: unknown[]) => void calls.push(args);
    return new Proxy(
      {
        exec: async () => {
          this.sent.push(calls[0] as unknown[]);
          return [[null, await this.answer(calls[0] as unknown[])]];
        },
      } as Record<string, unknown>,
      { get: (target, name) => target[name as string] ?? add },
    );
  }
}

function build(deadlineMs = 50, isCluster = false) {
  const timers = new ManualTimers();
  const client = new FakeClient(timers);
  client.isCluster = isCluster;
  const redis = client as unknown as Redis;
  const seam = { [SEAM]: { timers } };
  const options = { redis, name: 'fake', limit: 5, windowMs: 1_000, deadlineMs, ...seam };
  return { timers, client, limiter: new RedisFixedWindowLimiter(options) };
}

const never = () => new Promise<never>(() => {});

/** Whether the promise has settled by now, and how. */
function watch(promise: Promise<unknown>): { state: string } {
  const seen = { state: 'pending' };
  promise.then(
    () => {
      seen.state = 'answered';
    },
    (error) => {
      seen.state = `${error.code}`;
    },
  );
  return seen;
}

describe('a deadline', () => {
  it('is kept to the millisecond', async () => {
    const { timers, client, limiter } = build();
    client.answer = never;
    const call = watch(limiter.tryAcquire('ann'));
    await timers.advance(49);
    expect(call.state).toBe('pending');
    await timers.advance(1);
    expect(call.state).toBe('ERR_LIMITER_UNAVAILABLE');
  });

  it('takes one timer for 1,000 calls in flight, and none when nothing is', async () => {
    const { timers, client, limiter } = build();
    client.answer = never;
    const calls = Array.from({ length: 1_000 }, () => watch(limiter.tryAcquire('ann')));
    await timers.advance(10);
    calls.push(watch(limiter.tryAcquire('ann')));
    expect(timers.wakes).toBe(1);
    await timers.advance(40);
    expect(calls.filter(({ state }) => state === 'pending')).toHaveLength(1);
    expect(timers.wakes).toBe(2);
    await timers.advance(10);
    expect(calls.filter(({ state }) => state === 'pending')).toHaveLength(0);
    expect(timers.pending).toBe(0);
  });

  it('swallows what comes after it, answer or error', async () => {
    const { timers, client, limiter } = build();
    await limiter.tryAcquire('ann');
    let late: [(reply: unknown) => void, (error: Error) => void][] = [];
    client.answer = () => new Promise((...both) => void late.push(both));
    const calls = [watch(limiter.tryAcquire('ann'))];
    await settled();
    calls.push(watch(limiter.tryAcquire('ann')));
    await settled();
    await timers.advance(50);
    late[0]?.[0]([client.serverUs(), 1, 1, 0, 0]);
    late[1]?.[1](new Error('too late as well'));
    late = [];
    await settled();
    expect(calls.map(({ state }) => state)).toEqual(Array(2).fill('ERR_LIMITER_UNAVAILABLE'));
  });

  it('keeps nothing of the async context of the call that started its timer', async () => {
    const storage = new AsyncLocalStorage<object>();
    let inTimer: unknown = 'never called';
    const timers = new ManualTimers();
    const wake = (callback: () => void, ms: number) => {
      inTimer = storage.getStore();
      timers.wake(callback, ms);
    };
    const client = new FakeClient(timers);
    const seam = { [SEAM]: { timers: { now: timers.now, wake } } };
    const redis = client as unknown as Redis;
    const options = { redis, name: 'fake', limit: 5, windowMs: 1_000, ...seam };
    const limiter = new RedisFixedWindowLimiter(options);
    await storage.run({ big: 'request' }, () => limiter.tryAcquire('ann'));
    expect(inTimer).toBeUndefined();
  });
});

describe('a client that is not ready', () => {
  it('is waited for within the deadline, and sent nothing until then', async () => {
    const { timers, client, limiter } = build();
    client.status = 'reconnecting';
    const calls = [limiter.tryAcquire('ann'), limiter.tryAcquire('bob')].map(watch);
    await timers.advance(49);
    expect(client.sent).toHaveLength(0);
    client.status = 'ready';
    client.emit('ready');
    await settled();
    expect(calls.map(({ state }) => state)).toEqual(['answered', 'answered']);
    expect(client.listenerCount('ready') + client.listenerCount('end')).toBe(0);
  });

  it('is listened to once, however many calls give up meanwhile', async () => {
    const { timers, client, limiter } = build();
    client.status = 'reconnecting';
    for (let i = 0; i < 20; i++) {
      const call = watch(limiter.tryAcquire('ann'));
      await timers.advance(50);
      expect(call.state).toBe('ERR_LIMITER_UNAVAILABLE');
    }
    expect([client.listenerCount('ready'), client.listenerCount('end')]).toEqual([1, 1]);
    client.status = 'ready';
    client.emit('ready');
    expect([client.listenerCount('ready'), client.listenerCount('end')]).toEqual([0, 0]);
  });

  it('is sent nothing once the deadline is over, not even when it is ready', async () => {
    const { timers, client, limiter } = build();
    client.status = 'connecting';
    const call = watch(limiter.tryAcquire('ann'));
    await timers.advance(50);
    expect(call.state).toBe('ERR_LIMITER_UNAVAILABLE');
    client.status = 'ready';
    client.emit('ready');
    await settled();
    expect(client.sent).toHaveLength(0);
  });

  it('is told to connect if it is lazy', async () => {
    const { client, limiter } = build();
    client.status = 'wait';
    const call = watch(limiter.tryAcquire('ann'));
    await settled();
    expect(client.connects).toBe(1);
    client.status = 'ready';
    client.emit('ready');
    await settled();
    expect(call.state).toBe('answered');
  });

  it('is not waited for if it was closed', async () => {
    const { client, limiter } = build();
    client.status = 'end';
    await expect(limiter.tryAcquire('ann')).rejects.toThrow('the client was closed');
    client.status = 'connecting';
    const call = watch(limiter.tryAcquire('ann'));
    client.status = 'end';
    client.emit('end');
    await settled();
    expect(call.state).toBe('ERR_LIMITER_UNAVAILABLE');
  });
});

describe('the server clock', () => {
  const notAfterOf = (args: unknown[]) => Number(args[1]);

  it('tells each script until when somebody waits for it', async () => {
    const { timers, client, limiter } = build();
    await limiter.tryAcquire('ann');
    expect(notAfterOf(client.sent[0] as unknown[])).toBe(client.serverUs() + 50_000);
    await timers.advance(7);
    await limiter.tryAcquire('ann');
    expect(notAfterOf(client.sent[1] as unknown[])).toBe(client.serverUs() + 50_000);
  });

  it('is asked once, also where the call that asks gives up before the answer', async () => {
    const { timers, client, limiter } = build();
    let asked = 0;
    client.timeAnswer = () => {
      asked++;
      const us = client.serverUs();
      const reply: [string, string] = [`${Math.floor(us / 1e6)}`, `${us % 1e6}`];
      return new Promise((done) => timers.wake(() => done(reply), 2));
    };
    client.status = 'reconnecting';
    const calls: { state: string }[] = [];
    const oneEachMs = async (ms: number) => {
      for (let i = 0; i < ms; i++) {
        calls.push(watch(limiter.tryAcquire('ann')));
        await timers.advance(1);
      }
    };
    await oneEachMs(50);
    client.status = 'ready';
    client.emit('ready');
    await oneEachMs(10);
    expect(asked).toBe(1);
    expect(calls.at(-1)?.state).toBe('answered');
  });

  it('is asked again where it did not answer', async () => {
    const { timers, client, limiter } = build();
    let asked = 0;
    client.timeAnswer = () => {
      asked++;
      return never();
    };
    const first = watch(limiter.tryAcquire('ann'));
    await timers.advance(60);
    expect(first.state).toBe('ERR_LIMITER_UNAVAILABLE');
    client.timeAnswer = undefined;
    expect((await limiter.tryAcquire('ann')).allowed).toBe(true);
    expect(asked).toBe(1);
  });

  it('may be set: a call that is refused for that is sent once more, and runs', async () => {
    const { client, limiter } = build();
    await limiter.tryAcquire('ann');
    let offset = 3_600_000_000;
    client.answer = async (args) => {
      const now = client.serverUs() + offset;
      return now > notAfterOf(args) ? [now] : [now, 1, 1, 0, 0];
    };
    client.sent = [];
    expect((await limiter.tryAcquire('ann')).allowed).toBe(true);
    expect(client.sent).toHaveLength(2);
    offset = 0;
    expect((await limiter.tryAcquire('ann')).allowed).toBe(true);
    await limiter.tryAcquire('ann');
    expect(notAfterOf(client.sent.at(-1) as unknown[])).toBe(client.serverUs() + 50_000);
  });
});

describe('calls of one tick', () => {
  const askAt = async (count: number) => {
    const { client, limiter } = build();
    await limiter.tryAcquire('ann');
    client.sent = [];
    const keys = Array.from({ length: count }, (_, i) => `user ${i}`);
    const answers = await Promise.all(keys.map((key) => limiter.tryAcquire(key)));
    return { client, answers };
  };

  it.each([
    [3, [3]],
    [10, [4, 4, 2]],
    [16, [4, 4, 4, 4]],
    [100, [25, 25, 25, 25]],
    [150, [32, 32, 32, 32, 22]],
  ])('go to the server in few parts: %i', async (count, parts) => {
    const { client, answers } = await askAt(count);
    expect(answers.every((answer) => answer.allowed)).toBe(true);
    expect(client.sent.map(([keys]) => keys)).toEqual(parts);
  });

  it('go one by one to a cluster, where each has a slot of its own', async () => {
    const { client, limiter } = build(50, true);
    await Promise.all(['a', 'b', 'c'].map((key) => limiter.tryAcquire(key)));
    expect(client.sent.map(([key]) => `${key}`.slice(-4))).toEqual(['{sa}', '{sb}', '{sc}']);
  });

  it('fail one by one where one key alone is at fault', async () => {
    const { client, limiter } = build();
    await limiter.tryAcquire('ann');
    client.answer = async () => [client.serverUs(), 1, 4, 0, 0, -1, 'WRONGTYPE', 0, 0, 0, 0, 7, 7];
    const calls = ['a', 'b', 'c'].map((key) => limiter.tryAcquire(key));
    const [a, b, c] = await Promise.allSettled(calls);
    expect([a, c]).toMatchObject([{ value: { allowed: true } }, { value: { allowed: false } }]);
    expect(b).toMatchObject({ reason: { code: 'ERR_LIMITER_UNAVAILABLE' } });
  });
});

describe('a slot that moves', () => {
  it.each([
    'MOVED 1 127.0.0.1:7',
    'ASK 1 127.0.0.1:7',
    'All keys in the pipeline should belong to the same slots allocation group',
  ])('is followed at once: %s', async (message) => {
    const { client, limiter } = build(50, true);
    await limiter.tryAcquire('ann');
    const faults = [new Error(message)];
    client.answer = async () => {
      const fault = faults.pop();
      if (fault) throw fault;
      return [client.serverUs(), 1, 1, 0, 0];
    };
    expect((await limiter.tryAcquire('ann')).allowed).toBe(true);
    expect(client.sent).toHaveLength(3);
  });

  it('is followed again, more slowly, while the client does not know its server', async () => {
    const { timers, client, limiter } = build(50, true);
    await limiter.tryAcquire('ann');
    client.answer = async () => {
      if (timers.now() < 1_030) throw new Error('MOVED 1 127.0.0.1:7');
      return [client.serverUs(), 1, 1, 0, 0];
    };
    const call = watch(limiter.tryAcquire('ann'));
    await timers.advance(29);
    expect(call.state).toBe('pending');
    expect(client.sent.length).toBeLessThan(10);
    await timers.advance(5);
    expect(call.state).toBe('answered');
  });

  it('is not followed for longer than the call has', async () => {
    const { timers, client, limiter } = build(50, true);
    await limiter.tryAcquire('ann');
    client.answer = () => Promise.reject(new Error('MOVED 1 127.0.0.1:7'));
    const call = expect(limiter.tryAcquire('ann')).rejects.toThrow(
      'no answer in time, after MOVED 1 127.0.0.1:7',
    );
    await timers.advance(51);
    await call;
    const sent = client.sent.length;
    await timers.advance(100);
    expect(client.sent).toHaveLength(sent);
  });

  it('is told at once where the client is that of a single server', async () => {
    const { client, limiter } = build();
    await limiter.tryAcquire('ann');
    client.answer = () => Promise.reject(new Error('MOVED 1 127.0.0.1:7'));
    await expect(limiter.tryAcquire('ann')).rejects.toThrow('MOVED 1 127.0.0.1:7');
    expect(client.sent).toHaveLength(2);
  });
});

describe('a reply of another shape', () => {
  it.each([null, 'OK', [], [1, 1], ['x', 1, 1, 0, 0], { allowed: 1 }])(
    'is a fault: %j',
    async (reply) => {
      const { client, limiter } = build();
      client.answer = async () => reply;
      await expect(limiter.tryAcquire('ann')).rejects.toMatchObject({
        code: 'ERR_LIMITER_UNAVAILABLE',
      });
    },
  );
});
