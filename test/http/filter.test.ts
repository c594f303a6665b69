import { describe, expect, it, vi } from 'vitest';
import type { RequestFacts } from '../../src/http/facts.ts';
import { HttpFilter } from '../../src/http/filter.ts';
import type { FilterOptions } from '../../src/http/options.ts';
import { decisionOf } from '../../src/http/state.ts';
import type { Verdict } from '../../src/http/verdict.ts';
import { TokenBucketLimiter } from '../../src/local/token-bucket-limiter.ts';
import { ManualClock } from '../../src/testing.ts';
import { FakeRemote } from './support/fake-remote.ts';

const clock = new ManualClock();

function bucket(limit = 1, name = 'default'): TokenBucketLimiter {
  return new TokenBucketLimiter({ capacity: limit, refillPerSecond: 1, name, clock: clock.now });
}

function request(method = 'GET', path = '/', ip: string | undefined = '1.2.3.4'): RequestFacts {
  return { method, path, ip, header: () => undefined };
}

function check(options: FilterOptions, facts = request()): Verdict {
  return new HttpFilter(options).check(undefined, facts, {}) as Verdict;
}

describe('a filter', () => {
  it('decides at once, without a promise, if nothing it needs comes later', () => {
    expect(check({ limiter: bucket() })).toEqual({
      allowed: true,
      status: 200,
      headers: { 'RateLimit-Policy': '"default";q=1;w=1', RateLimit: '"default";r=0;t=1' },
      body: '',
      settle: undefined,
    });
  });

  it('limits numbers and their digits as one key', () => {
    const limiter = bucket(2);
    check({ limiter, key: () => 42 });
    check({ limiter, key: () => '42' });
    expect(limiter.peek('42').allowed).toBe(false);
  });

  it('refunds once, however often it is told of the end', () => {
    const limiter = bucket(3);
    const { settle } = check({ limiter, refund: 'failed' });
    check({ limiter });
    settle?.(500);
    settle?.(500);
    settle?.(499);
    expect(limiter.peek('ip:1.2.3.4', 0).remaining).toBe(2);
  });

  it('takes the first of the end’s reports, also for no refund', () => {
    const limiter = bucket(3);
    const { settle } = check({ limiter, refund: 'failed' });
    settle?.(200);
    settle?.(500);
    expect(limiter.peek('ip:1.2.3.4', 0).remaining).toBe(2);
  });

  it('refunds what it charged, cost and all, to each of a list', () => {
    const [a, b] = [bucket(5, 'a'), bucket(9, 'b')];
    check({ limiter: [a, b], cost: 3, refund: () => true }).settle?.(200);
    expect([a, b].map((limiter) => limiter.peek('ip:1.2.3.4', 0).remaining)).toEqual([5, 9]);
  });

  it('waits for nothing of a refund that fails, and reports it', async () => {
    const errors: unknown[] = [];
    const remote = new FakeRemote(bucket(5));
    remote.refund = () => Promise.reject(new Error('refund lost'));
    const onError = (error: unknown) => {
      errors.push(error);
      return 'open' as const;
    };
    const verdict = await new HttpFilter({ limiter: remote, refund: 'failed', onError }).check(
      undefined,
      request(),
      {},
    );
    verdict.settle?.(500);
    await vi.waitFor(() => expect(errors).toEqual([new Error('refund lost')]));
  });

  it('refunds nothing that the failure policy let pass', async () => {
    const remote = new FakeRemote('rejects');
    const refund = vi.spyOn(remote, 'refund');
    const options: FilterOptions = { limiter: remote, refund: 'failed', onError: () => 'open' };
    const verdict = await new HttpFilter(options).check(undefined, request(), {});
    expect(verdict.allowed).toBe(true);
    expect(verdict.settle).toBeUndefined();
    expect(refund).not.toHaveBeenCalled();
  });

  it('asks the rest of a list when one fails open, and refunds the rest when one fails closed', async () => {
    const local = bucket(1, 'local');
    const limiter = [new FakeRemote('rejects'), local];
    const open: FilterOptions = { limiter, onError: () => 'open' };
    expect((await new HttpFilter(open).check(undefined, request(), {})).allowed).toBe(true);
    expect((await new HttpFilter(open).check(undefined, request(), {})).status).toBe(429);
    clock.advance(1000);
    const closed: FilterOptions = {
      limiter: [local, new FakeRemote('rejects')],
      onError: () => 'closed',
    };
    expect((await new HttpFilter(closed).check(undefined, request(), {})).status).toBe(503);
    expect(local.peek('ip:1.2.3.4').allowed).toBe(true);
  });

  it('is open by itself to a limiter that fails, closed to functions of the app that do', async () => {
    const emit = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const limiter = new FakeRemote('rejects');
    expect((await new HttpFilter({ limiter }).check(undefined, request(), {})).status).toBe(200);
    const broken = () => {
      throw new Error('a bug');
    };
    expect(check({ limiter: bucket(), key: broken }).status).toBe(503);
    expect(check({ limiter: bucket(), skip: broken }).status).toBe(503);
    expect(check({ limiter: bucket(), key: broken, onError: 'open' }).status).toBe(200);
    expect(check({ limiter: bucket() }, request('GET', '/', '')).status).toBe(503);
    const codes = emit.mock.calls.map(([, options]) => (options as { code: string }).code);
    expect(codes).toEqual(['ERR_UNAVAILABLE', 'Error', 'Error', 'Error', 'ERR_INVALID_KEY']);
    emit.mockRestore();
  });

  it('warns once of each kind of error', async () => {
    const emit = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const filter = new HttpFilter({ limiter: bucket(), key: () => '' });
    for (let i = 0; i < 3; i++) filter.check(undefined, request(), {});
    expect(emit).toHaveBeenCalledTimes(1);
    emit.mockRestore();
  });

  it('denies with the default body if the app’s own throws', () => {
    const errors: unknown[] = [];
    const options: FilterOptions = {
      limiter: bucket(),
      body: () => {
        throw new Error('no body');
      },
      onLimited: () => {
        throw new Error('no log');
      },
      onError: (error) => {
        errors.push((error as Error).message);
        return 'open';
      },
    };
    check(options);
    const { status, headers } = check(options);
    expect(status).toBe(429);
    expect(headers['Content-Type']).toBe('application/problem+json');
    expect(errors).toEqual(['no log', 'no body']);
  });

  it('lets everything pass in shadow mode, faults too', async () => {
    const limiter = new FakeRemote('rejects');
    const options: FilterOptions = { limiter, enforce: false, onError: () => 'closed' };
    expect((await new HttpFilter(options).check(undefined, request(), {})).allowed).toBe(true);
    expect(
      check({ limiter: bucket(), key: () => '', enforce: false, onError: () => 'closed' }).allowed,
    ).toBe(true);
  });

  it('remembers for the handler the decision that binds', () => {
    const carrier = {};
    expect(decisionOf(carrier)).toBeUndefined();
    new HttpFilter({ limiter: bucket(3, 'a') }).check(undefined, request(), carrier);
    new HttpFilter({ limiter: bucket(9, 'b') }).check(undefined, request(), carrier);
    expect(decisionOf(carrier)).toMatchObject({ limit: 3, remaining: 2 });
  });
});

describe('a table of routes', () => {
  const matches = (route: { method?: string; path: string }, facts: RequestFacts) =>
    Object.keys(check({ routes: [{ ...route, limiter: bucket() }] }, facts).headers).length > 0;

  it.each([
    [{ path: '/login' }, 'POST', '/login'],
    [{ path: '/login' }, 'GET', '/login/'],
    [{ path: '/login' }, 'GET', '/LogIn'],
    [{ path: '/login' }, 'GET', '/log%69n'],
    [{ path: '/login' }, 'GET', '//login'],
    [{ method: 'GET', path: '/login' }, 'HEAD', '/login'],
    [{ method: 'get', path: '/login' }, 'GET', '/login'],
    [{ path: '/users/:id' }, 'GET', '/users/7'],
    [{ path: '/files/*rest' }, 'GET', '/files/a/b/c'],
    [{ path: '/a{/b}' }, 'GET', '/a'],
    [{ path: '/a{/b}' }, 'GET', '/a/b'],
    [{ path: '/bad' }, 'GET', '/bad'],
  ])('%j takes %s %s', (route, method, path) => {
    expect(matches(route, request(method, path))).toBe(true);
  });

  it.each([
    [{ path: '/login' }, 'GET', '/login/x'],
    [{ path: '/login' }, 'GET', '/logins'],
    [{ method: 'POST', path: '/login' }, 'GET', '/login'],
    [{ method: 'POST', path: '/login' }, 'HEAD', '/login'],
    [{ path: '/users/:id' }, 'GET', '/users'],
    [{ path: '/a' }, 'GET', '/%E0%A4%A'],
  ])('%j leaves %s %s', (route, method, path) => {
    expect(matches(route, request(method, path))).toBe(false);
  });

  it('takes the first match, then the default', () => {
    const limiters = ['first', 'second', 'rest'].map((name) => bucket(1, name));
    const [first, second, limiter] = limiters as [
      TokenBucketLimiter,
      TokenBucketLimiter,
      TokenBucketLimiter,
    ];
    const routes = [
      { path: '/a', limiter: first },
      { path: '/:any', limiter: second },
    ];
    const policy = (path: string) =>
      check({ routes, limiter }, request('GET', path)).headers['RateLimit-Policy'];
    expect(policy('/a')).toMatch('"first"');
    expect(policy('/b')).toMatch('"second"');
    expect(policy('/b/c')).toMatch('"rest"');
  });

  it('has a key and a name for each route', () => {
    const limiter = bucket();
    const routes = [{ path: '/a', limiter, key: () => 'everybody', name: 'mine' }];
    expect(check({ routes }, request('GET', '/a')).headers.RateLimit).toMatch('"mine"');
    expect(limiter.peek('everybody').allowed).toBe(false);
  });
});

describe('wrong options', () => {
  const limiter = bucket();
  it.each([
    [{}, /nothing to limit by/],
    [{ limiter: 5 }, /limiter must be a RateLimiter; got 5/],
    [{ limiter: [] }, /empty list/],
    [{ limiter: [bucket(), bucket()] }, /two limiters of one list are named "default"/],
    [{ limiter: [bucket(1, 'a'), bucket(1, 'b')], name: 'x' }, /name is for one limiter/],
    [{ limiter, key: 'ip' }, /key must be a function; got "ip"/],
    [{ limiter, cost: -1 }, /cost must be a whole number/],
    [{ limiter, cost: Number.NaN }, /cost must be a whole number/],
    [{ limiter, cost: '1' }, /cost must be a number/],
    [{ limiter, skip: true }, /skip must be a function/],
    [{ limiter, status: 200 }, /status must be a whole number from 400 to 599; got 200/],
    [{ limiter, body: 'xml' }, /body must be "problem\+json", "json" or a function; got "xml"/],
    [{ limiter, onError: 'ajar' }, /onError must be "open", "closed" or a function/],
    [{ limiter, refund: 'always' }, /refund must be "failed", "successful" or a function/],
    [{ limiter, enforce: 'no' }, /enforce must be true or false/],
    [{ limiter, name: 'a"b' }, /name must be/],
    [{ limiter, headers: 'x' }, /headers must be any of/],
    [{ routes: [{ path: 'login', limiter }] }, /path must be a pattern that starts with \//],
    [{ routes: [{ path: '/*', limiter }] }, /Missing parameter name/],
    [{ routes: [{ path: '/a', method: 5, limiter }] }, /method must be a string/],
  ])('%o are refused before the first request', (options, message) => {
    expect(() => new HttpFilter(options as FilterOptions)).toThrow(message);
  });
});
