import { Agent } from 'node:http';
import { parseList } from 'structured-headers';
import { afterEach, describe, expect, it } from 'vitest';
import { RateLimit } from '../../src/decorator.ts';
import { byHeader, byUser } from '../../src/http/keys.ts';
import type { Decision, RateLimiter } from '../../src/limiter.ts';
import { SlidingWindowCounterLimiter } from '../../src/local/sliding-window-counter-limiter.ts';
import { TokenBucketLimiter } from '../../src/local/token-bucket-limiter.ts';
import { ManualClock } from '../../src/testing.ts';
import { ask, exchange, open, statuses, until } from './support/client.ts';
import { FakeRemote } from './support/fake-remote.ts';
import { decorate } from './support/legacy.ts';
import type { CommonOptions, Running, Setup, Subject } from './support/subject.ts';

const PROBLEM = {
  type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
  title: 'Request cannot be satisfied as assigned quota has been exceeded',
  status: 429,
  'violated-policies': ['default'],
};

/** What every adapter must do, over real sockets. */
export function auditAdapter(subject: Subject): void {
  describe(subject.name, () => {
    const clock = new ManualClock();
    let running: Running | undefined;

    afterEach(async () => {
      await running?.close();
      running = undefined;
    });

    function bucket(limit: number, seconds: number, name = 'default'): TokenBucketLimiter {
      const refill = { refillTokens: limit, refillIntervalMs: seconds * 1000 };
      return new TokenBucketLimiter({ capacity: limit, ...refill, name, clock: clock.now });
    }

    async function serve(
      mounts: CommonOptions | readonly CommonOptions[],
      rest: Partial<Setup> = {},
    ): Promise<number> {
      const list = Array.isArray(mounts) ? mounts : [mounts];
      running = await subject.start({ mounts: list, ...rest });
      return running.port;
    }

    describe('the limit', () => {
      it('lets exactly the limit pass and answers the next with 429', async () => {
        const port = await serve({ limiter: bucket(3, 60) });
        expect(await statuses(port, 5)).toEqual([200, 200, 200, 429, 429]);
      });

      it('tells a denial in headers and body, and that it must not be cached', async () => {
        const port = await serve({ limiter: bucket(2, 60) });
        await statuses(port, 2);
        const { status, headers, body } = await ask(port);
        expect(status).toBe(429);
        expect(headers).toMatchObject({
          'ratelimit-policy': '"default";q=2;w=60',
          ratelimit: '"default";r=0;t=30',
          'retry-after': '30',
          'cache-control': 'no-store',
          'content-type': expect.stringMatching(/^application\/problem\+json/),
        });
        expect(JSON.parse(body)).toEqual(PROBLEM);
      });

      it('tells an allowed request what is left, and nothing about waiting or caching', async () => {
        const port = await serve({ limiter: bucket(2, 60) });
        const { headers, body } = await ask(port);
        expect(body).toBe('hello');
        expect(headers).toMatchObject({
          'ratelimit-policy': '"default";q=2;w=60',
          ratelimit: '"default";r=1;t=30',
        });
        expect(headers).not.toHaveProperty('retry-after');
        expect(headers).not.toHaveProperty('cache-control');
      });

      it('lets a request pass Retry-After seconds later and not a second sooner', async () => {
        const limiter = new SlidingWindowCounterLimiter({
          limit: 2,
          windowMs: 60_000,
          clock: clock.now,
        });
        clock.set(0);
        const port = await serve({ limiter });
        await ask(port);
        clock.set(10_000);
        await ask(port);
        clock.set(20_000);
        expect((await ask(port)).headers['retry-after']).toBe('70');
        clock.set(89_000);
        expect((await ask(port)).status).toBe(429);
        clock.set(90_000);
        expect((await ask(port)).status).toBe(200);
      });

      it('counts every request of one keep-alive connection', async () => {
        const port = await serve({ limiter: bucket(3, 60) });
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        expect(await statuses(port, 5, '/hello', { agent })).toEqual([200, 200, 200, 429, 429]);
        agent.destroy();
      });

      it('counts every one of pipelined requests', async () => {
        const port = await serve({ limiter: bucket(3, 60) });
        const head = 'GET /hello HTTP/1.1\r\nHost: a\r\n';
        const seen = await exchange(
          port,
          `${`${head}\r\n`.repeat(4)}${head}Connection: close\r\n\r\n`,
        );
        const found = [...seen.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
        expect(found).toEqual(['200', '200', '200', '429', '429']);
      });

      it('lets exactly the limit pass of 100 connections at once', async () => {
        const port = await serve({ limiter: bucket(30, 60) });
        const answers = await Promise.all(Array.from({ length: 100 }, () => ask(port)));
        const passed = answers.filter(({ status }) => status === 200);
        expect(passed).toHaveLength(30);
        expect(answers.filter(({ status }) => status === 429)).toHaveLength(70);
      });

      it('counts HEAD, and denies it without a body', async () => {
        const port = await serve({ limiter: bucket(1, 60) });
        expect((await ask(port, '/hello', { method: 'HEAD' })).status).toBe(200);
        const denied = await ask(port, '/hello', { method: 'HEAD' });
        expect(denied).toMatchObject({ status: 429, body: '' });
        expect(denied.headers['retry-after']).toBe('60');
      });

      it('counts OPTIONS and POST like any other method', async () => {
        const port = await serve({ limiter: bucket(2, 60) });
        await ask(port, '/hello', { method: 'OPTIONS' });
        const post = { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } };
        expect((await ask(port, '/hello', post)).status).toBe(200);
        expect(await statuses(port, 1)).toEqual([429]);
        expect((await ask(port, '/hello', post)).status).toBe(429);
      });

      it('charges a request once whose handler throws', async () => {
        const port = await serve({ limiter: bucket(2, 60) });
        const failed = await ask(port, '/fail');
        expect(failed.status).toBe(500);
        expect(failed.headers.ratelimit).toBe(
          subject.keepsHeadersOnError ? '"default";r=1;t=30' : undefined,
        );
        expect(await statuses(port, 2, '/fail')).toEqual([500, 429]);
      });

      it(`${subject.seesUnknownPaths ? 'charges' : 'does not see'} unknown paths`, async () => {
        const port = await serve({ limiter: bucket(1, 60) });
        const second = subject.seesUnknownPaths ? 429 : 404;
        expect(await statuses(port, 2, '/unknown')).toEqual([404, second]);
      });

      it('hands the decision to the handler', async () => {
        const port = await serve({ limiter: bucket(5, 60) });
        const { headers } = await ask(port);
        const decision: Decision = JSON.parse(`${headers['x-decision']}`);
        expect(decision).toMatchObject({ allowed: true, limit: 5, remaining: 4, source: 'local' });
      });
    });

    describe('several limiters', () => {
      const both = (limit = 100) =>
        [bucket(10, 1, 'burst'), bucket(limit, 60, 'sustained')] as const;

      it('writes one list with both for a list of limiters', async () => {
        const port = await serve({ limiter: both() });
        const { headers } = await ask(port);
        expect(headers['ratelimit-policy']).toBe('"burst";q=10;w=1, "sustained";q=100;w=60');
        expect(headers.ratelimit).toBe('"burst";r=9;t=1, "sustained";r=99;t=1');
        expect(parseList(`${headers.ratelimit}`)).toHaveLength(2);
      });

      it('writes one list with both for two filters', async () => {
        const [burst, sustained] = both();
        const port = await serve([{ limiter: burst }, { limiter: sustained }]);
        const { headers } = await ask(port);
        expect(headers['ratelimit-policy']).toBe('"burst";q=10;w=1, "sustained";q=100;w=60');
        expect(headers.ratelimit).toBe('"burst";r=9;t=1, "sustained";r=99;t=1');
      });

      it('counts once if one filter is mounted twice', async () => {
        const port = await serve({ limiter: bucket(2, 60) }, { twice: true });
        expect(await statuses(port, 3)).toEqual([200, 200, 429]);
      });

      it('gives back what the first of a list took if the second denies', async () => {
        const [burst, sustained] = both(1);
        const port = await serve({ limiter: [burst, sustained] });
        expect(await statuses(port, 4)).toEqual([200, 429, 429, 429]);
        expect(burst.peek('ip:127.0.0.1', 9).allowed).toBe(true);
        expect(burst.peek('ip:127.0.0.1', 10).allowed).toBe(false);
        const { headers } = await ask(port);
        expect(headers.ratelimit).toMatch(/^"burst";r=9;t=\d+, "sustained";r=0;t=60$/);
      });

      it('takes the limiter that a function of the request picks', async () => {
        const [gold, base] = [bucket(2, 60, 'gold'), bucket(1, 60, 'base')];
        const pick = (_: unknown, facts: { header(name: string): string | undefined }) =>
          facts.header('x-plan') === 'gold' ? gold : base;
        const port = await serve({ limiter: pick as never });
        expect(await statuses(port, 2)).toEqual([200, 429]);
        const headers = { 'x-plan': 'gold' };
        expect(await statuses(port, 3, '/hello', { headers })).toEqual([200, 200, 429]);
      });

      it('has a limit for each endpoint, the first match first', async () => {
        const routes = [
          { method: 'GET', path: '/teapot', limiter: bucket(1, 60, 'tea') },
          { path: '/:any', limit: 2, windowMs: 60_000, clock: clock.now },
        ];
        const port = await serve({ routes, limiter: bucket(5, 60) });
        expect(await statuses(port, 2, '/teapot')).toEqual([418, 429]);
        expect([404, 429]).toContain((await ask(port, '/TEAPOT/?x=1')).status);
        expect(await statuses(port, 3)).toEqual([200, 200, 429]);
        expect((await ask(port)).headers['ratelimit-policy']).toBe('"/:any";q=2;w=60');
      });
    });

    describe('keys', () => {
      it('keeps API keys apart and hands on their hashes only', async () => {
        const seen: unknown[] = [];
        const limiter = bucket(1, 60);
        const spy: RateLimiter = {
          policy: limiter.policy,
          tryAcquire: (key, cost) => {
            seen.push(key);
            return limiter.tryAcquire(key, cost);
          },
          peek: (key, cost) => limiter.peek(key, cost),
          refund: (key, cost) => limiter.refund(key, cost),
          reset: (key) => limiter.reset(key),
          close: () => limiter.close(),
        };
        const port = await serve({ limiter: spy, key: byHeader('X-API-Key') });
        for (const key of ['costarring', 'liquid', 'declinate', 'macallums']) {
          const headers = { 'x-api-key': key };
          expect(await statuses(port, 2, '/hello', { headers })).toEqual([200, 429]);
        }
        expect(new Set(seen).size).toBe(4);
        for (const key of seen) expect(key).toMatch(/^header:x-api-key:[\w-]{43}$/);
      });

      it('falls back to the address without a header or a user, apart from both', async () => {
        const user = byUser((_: unknown, facts: { header(n: string): string | undefined }) =>
          facts.header('x-user'),
        );
        const port = await serve({ limiter: bucket(1, 60), key: user as never });
        const headers = { 'x-user': '127.0.0.1' };
        expect(await statuses(port, 2)).toEqual([200, 429]);
        expect(await statuses(port, 2, '/hello', { headers })).toEqual([200, 429]);
      });

      it('believes no X-Forwarded-For by itself', async () => {
        const port = await serve({ limiter: bucket(10, 60) });
        const seen: number[] = [];
        for (let i = 0; i < 12; i++) {
          const headers = { 'x-forwarded-for': `198.51.100.${i}, 203.0.113.${i}` };
          seen.push((await ask(port, '/hello', { headers })).status);
        }
        expect(seen.filter((status) => status === 200)).toHaveLength(10);
      });

      it('takes what the trusted proxy wrote, not what the client did', async () => {
        const port = await serve({ limiter: bucket(10, 60) }, { proxies: 1 });
        const seen: number[] = [];
        for (let i = 0; i < 100; i++) {
          const headers = { 'x-forwarded-for': `198.51.100.${i}, 203.0.113.9` };
          seen.push((await ask(port, '/hello', { headers })).status);
        }
        expect(seen.filter((status) => status === 200)).toHaveLength(10);
        const other = { 'x-forwarded-for': '203.0.113.9, 203.0.113.10' };
        expect((await ask(port, '/hello', { headers: other })).status).toBe(200);
      });

      it('looks behind two proxies if it is told so', async () => {
        const port = await serve({ limiter: bucket(1, 60) }, { proxies: 2 });
        const from = (address: string) => ({
          headers: { 'x-forwarded-for': `6.6.6.6, ${address}, 10.0.0.1` },
        });
        expect(await statuses(port, 2, '/hello', from('203.0.113.1'))).toEqual([200, 429]);
        expect(await statuses(port, 2, '/hello', from('203.0.113.2'))).toEqual([200, 429]);
      });
    });

    describe('options', () => {
      it('takes cost and skip from the request', async () => {
        const port = await serve({
          limiter: bucket(5, 60),
          cost: (_, facts) => Number(facts.header('x-cost') ?? 1),
          skip: (_, facts) => facts.header('x-skip') === 'yes',
        });
        expect(await statuses(port, 7, '/hello', { headers: { 'x-skip': 'yes' } })).toEqual(
          Array(7).fill(200),
        );
        expect(await statuses(port, 2, '/hello', { headers: { 'x-cost': '3' } })).toEqual([
          200, 429,
        ]);
        expect(await statuses(port, 3)).toEqual([200, 200, 429]);
        const never = await ask(port, '/hello', { headers: { 'x-cost': '6' } });
        expect(never.status).toBe(429);
        expect(never.headers).not.toHaveProperty('retry-after');
        expect(never.headers.ratelimit).toBe('"default";r=0');
      });

      it('waits for options that answer later', async () => {
        const port = await serve({
          limiter: bucket(2, 60),
          skip: (async () => false) as never,
          cost: (async () => 2) as never,
          key: (async () => 'somebody') as never,
        });
        expect(await statuses(port, 2)).toEqual([200, 429]);
      });

      it('tells the app of denials, and sends its body and status', async () => {
        const told: string[] = [];
        const port = await serve({
          limiter: bucket(1, 60),
          name: 'told',
          status: 420,
          body: ({ policy, decision }) => ({ slow: policy.name, wait: decision.retryAfterSeconds }),
          onLimited: ({ policy, facts, status, enforced }) => {
            told.push(`${policy.name} ${facts.method} ${facts.path} ${status} ${enforced}`);
          },
        });
        await ask(port);
        const { status, body, headers } = await ask(port, '/hello?q=1');
        expect({ status, body: JSON.parse(body) }).toEqual({
          status: 420,
          body: { slow: 'told', wait: 60 },
        });
        expect(headers['content-type']).toMatch(/^application\/json/);
        expect(told).toEqual(['told GET /hello 420 true']);
      });

      it('sends the short JSON body, and every header format at once', async () => {
        const headers = ['ietf', 'draft-6', 'legacy'] as const;
        const port = await serve({ limiter: bucket(1, 60), body: 'json', headers });
        await ask(port);
        const denied = await ask(port);
        expect(denied.body).toBe('{"error":"Rate limit exceeded"}');
        expect(denied.headers).toMatchObject({
          ratelimit: '"default";r=0;t=60',
          'ratelimit-policy': '"default";q=1;w=60',
          'ratelimit-limit': '1',
          'ratelimit-remaining': '0',
          'ratelimit-reset': '60',
          'x-ratelimit-limit': '1',
          'x-ratelimit-remaining': '0',
          'x-ratelimit-reset': expect.stringMatching(/^\d{10}$/),
        });
      });

      it('counts, tells and denies nobody in shadow mode', async () => {
        const told: boolean[] = [];
        const port = await serve({
          limiter: bucket(1, 60),
          enforce: false,
          onLimited: ({ enforced }) => told.push(enforced),
        });
        expect(await statuses(port, 2)).toEqual([200, 200]);
        const { status, headers, body } = await ask(port);
        expect({ status, body }).toEqual({ status: 200, body: 'hello' });
        expect(headers.ratelimit).toBe('"default";r=0;t=60');
        expect(headers).not.toHaveProperty('retry-after');
        expect(JSON.parse(`${headers['x-decision']}`)).toMatchObject({ allowed: false });
        expect(told).toEqual([false, false]);
      });
    });

    describe('without a decision', () => {
      it.each([
        ['fails', 'open', 200],
        ['fails', 'closed', 503],
        ['hangs until its deadline', 'open', 200],
        ['hangs until its deadline', 'closed', 503],
      ] as const)('a limiter that %s is %s: %i', async (how, onError, status) => {
        const remote = new FakeRemote(how === 'fails' ? 'rejects' : 'hangs');
        const port = await serve({ limiter: remote, onError: () => onError });
        const asked = ask(port);
        await until(() => remote.calls === 1);
        remote.reachDeadline();
        const { headers, ...answer } = await asked;
        expect(answer.status).toBe(status);
        expect(JSON.stringify(headers)).not.toMatch(/NaN|undefined|Infinity/);
        expect(headers['ratelimit-policy']).toBe(status === 200 ? '"remote";q=5;w=60' : undefined);
        expect(headers).not.toHaveProperty('ratelimit');
        if (status === 200) expect(`${headers['x-decision']}`).toMatch('"source":"open"');
        else expect(headers['cache-control']).toBe('no-store');
      });

      it('takes the failure policy of a tier for what it is: 503, never 429', async () => {
        const port = await serve({ limiter: new FakeRemote('closed') });
        const { status, headers } = await ask(port);
        expect(status).toBe(503);
        expect(headers).not.toHaveProperty('ratelimit');
      });

      it('counts with a limiter that answers later', async () => {
        const port = await serve({ limiter: new FakeRemote(bucket(2, 60)) });
        expect(await statuses(port, 3)).toEqual([200, 200, 429]);
      });

      it.each([
        ['cost', { cost: () => Number.NaN }],
        ['cost', { cost: () => -1 }],
        ['cost', { cost: (() => undefined) as never }],
        ['key', { key: () => Number.NaN }],
        ['key', { key: () => '' }],
        ['key', { key: (() => undefined) as never }],
        ['key', { key: (() => ({})) as never }],
        ['limiter', { limiter: (() => undefined) as never }],
        ['limiter', { limiter: (() => []) as never }],
      ])('a %s that is none is an error for the app and a 503 (%o)', async (_, options) => {
        const errors: unknown[] = [];
        const limiter = bucket(1, 60);
        const port = await serve({
          limiter,
          ...(options as CommonOptions),
          onError: (error) => {
            errors.push(error);
            return 'closed';
          },
        });
        const { status, headers } = await ask(port);
        expect(status).toBe(503);
        expect(JSON.stringify(headers)).not.toMatch(/NaN|undefined/);
        expect(errors).toHaveLength(1);
        expect(errors[0]).toHaveProperty('code', expect.stringMatching(/^ERR_INVALID_/));
        expect(limiter.stats().allowed).toBe(0);
      });
    });

    describe('methods marked @RateLimit', () => {
      class Accounts {
        made = 0;
        create(): string {
          this.made += 1;
          return 'created';
        }
      }
      const marked = () => {
        const accounts = new Accounts();
        const limit = { limiter: bucket(2, 60), keyPrefix: 'accounts' };
        decorate([RateLimit(limit)], Accounts.prototype, 'create');
        return accounts;
      };

      it('answer 429 with headers and body when called too often', async () => {
        const accounts = marked();
        const port = await serve({ limiter: bucket(99, 60) }, { service: () => accounts.create() });
        expect(await statuses(port, 3, '/service')).toEqual([200, 200, 429]);
        const { headers, body } = await ask(port, '/service');
        expect(headers).toMatchObject({
          'retry-after': '30',
          'cache-control': 'no-store',
          ratelimit: '"accounts";r=0;t=30',
        });
        expect(JSON.parse(body)).toMatchObject(
          subject.ownErrorBodies
            ? { statusCode: 429, code: 'ERR_RATE_LIMITED' }
            : { status: 429, 'violated-policies': ['accounts'] },
        );
        expect(accounts.made).toBe(2);
      });

      const carried = async () => {
        const accounts = marked();
        const port = await serve(
          {
            limiter: bucket(99, 60),
            context: true,
            key: (_, facts) => facts.header('x-user') ?? 'nobody',
          },
          { service: async () => accounts.create() },
        );
        for (const user of ['ann', 'bob']) {
          const headers = { 'x-user': user };
          expect(await statuses(port, 3, '/service', { headers })).toEqual([200, 200, 429]);
        }
      };
      // A guard of Nest cannot set a context for what runs after it.
      if (subject.carriesContext) it('know the client if the adapter carries it', carried);
    });

    describe('refunds', () => {
      const left = (limiter: TokenBucketLimiter) => limiter.peek('ip:127.0.0.1', 0).remaining;

      it('gives back failed requests once the response is done', async () => {
        const limiter = bucket(3, 60);
        const port = await serve({ limiter, refund: 'failed' });
        await ask(port, '/teapot');
        await until(() => left(limiter) === 3);
        await ask(port, '/fail');
        await until(() => left(limiter) === 3);
        expect(await statuses(port, 4)).toEqual([200, 200, 200, 429]);
      });

      it('gives back successful requests, or those that a function names', async () => {
        const limiter = bucket(2, 60);
        const port = await serve({ limiter, refund: 'successful' });
        await ask(port);
        await until(() => left(limiter) === 2);
        await ask(port, '/teapot');
        await running?.close();
        const other = bucket(2, 60);
        running = await subject.start({
          mounts: [{ limiter: other, refund: (status) => status === 418 }],
        });
        await ask(running.port);
        expect(left(other)).toBe(1);
        await ask(running.port, '/teapot');
        await until(() => left(other) === 1);
        expect(left(limiter)).toBe(1);
      });

      it('gives back a slow response that its client left, once', async () => {
        const { promise, resolve } = withResolvers();
        const counted = new CountingRefunds(bucket(3, 60));
        const port = await serve({ limiter: counted, refund: 'failed' }, { gate: promise });
        const socket = await open(port);
        socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
        await until(() => counted.taken === 1);
        socket.destroy();
        if (subject.seesBrokenConnections) await until(() => counted.refunded === 1);
        resolve();
        await statuses(port, 3);
        expect(counted.refunded).toBe(subject.seesBrokenConnections ? 1 : 0);
      });

      it('gives back every one of pipelined requests whose connection broke, once', async () => {
        const { promise, resolve } = withResolvers();
        const counted = new CountingRefunds(bucket(9, 60));
        const port = await serve({ limiter: counted, refund: 'failed' }, { gate: promise });
        const socket = await open(port);
        socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(4));
        await until(() => counted.taken === 4);
        socket.destroy();
        if (subject.seesBrokenConnections) await until(() => counted.refunded === 4);
        resolve();
        await statuses(port, 3);
        expect(counted.refunded).toBe(subject.seesBrokenConnections ? 4 : 0);
      });

      it('waits for the end of a half-closed connection’s response', async () => {
        const { promise, resolve } = withResolvers();
        const counted = new CountingRefunds(bucket(3, 60));
        const port = await serve({ limiter: counted, refund: 'successful' }, { gate: promise });
        const socket = await open(port);
        let seen = '';
        socket.on('data', (chunk) => {
          seen += chunk;
        });
        socket.end('GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
        await until(() => counted.taken === 1);
        expect(counted.refunded).toBe(0);
        resolve();
        await until(() => counted.refunded === 1);
        await until(() => socket.closed);
        expect(seen).toMatch(/^HTTP\/1\.1 200 /);
        expect(counted.refunded).toBe(1);
      });

      it('gives back nothing that was denied or skipped', async () => {
        const counted = new CountingRefunds(bucket(1, 60));
        const skip = (_: unknown, facts: { path: string }) => facts.path === '/teapot';
        const port = await serve({ limiter: counted, refund: 'failed', skip });
        expect(await statuses(port, 2)).toEqual([200, 429]);
        await ask(port, '/teapot');
        expect(counted.refunded).toBe(0);
      });
    });
  });
}

/** Counts what goes to the limiter behind it. */
class CountingRefunds implements RateLimiter {
  taken = 0;
  refunded = 0;
  readonly #limiter: TokenBucketLimiter;

  constructor(limiter: TokenBucketLimiter) {
    this.#limiter = limiter;
  }

  get policy() {
    return this.#limiter.policy;
  }

  tryAcquire(...args: Parameters<RateLimiter['tryAcquire']>) {
    this.taken += 1;
    return this.#limiter.tryAcquire(...args);
  }

  peek(...args: Parameters<RateLimiter['peek']>) {
    return this.#limiter.peek(...args);
  }

  refund(...args: Parameters<RateLimiter['refund']>) {
    this.refunded += 1;
    this.#limiter.refund(...args);
  }

  reset() {}

  close() {}
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
