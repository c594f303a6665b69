import { describe, expect, it } from 'vitest';
import { RateLimit, RateLimitExceededError } from '../../src/decorator.ts';
import { requestContext } from '../../src/http/context.ts';
import { TokenBucketLimiter } from '../../src/local/token-bucket-limiter.ts';
import { ManualClock } from '../../src/testing.ts';
import { FakeRemote } from './support/fake-remote.ts';
import { decorate } from './support/legacy.ts';
import 'reflect-metadata';

const clock = new ManualClock();
const once = { limit: 1, windowSeconds: 60, clock: clock.now };

class Standard {
  readonly greeting = 'hello';

  @RateLimit({ ...once, keyPrefix: 'greet' })
  greet(name: string): string {
    return `${this.greeting} ${name}`;
  }

  @RateLimit({ ...once, key: (email: string) => email })
  login(email: string, _password: string): string {
    return email;
  }

  @RateLimit(once)
  async later(): Promise<string> {
    return 'later';
  }

  @RateLimit({ ...once, limit: 2 })
  static shared(): string {
    return 'shared';
  }
}

/** What `call` throws. */
function thrown(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('@RateLimit, as a standard decorator', () => {
  it('lets calls within the limit through, with this, arguments and result', () => {
    expect(new Standard().greet('ann')).toBe('hello ann');
  });

  it('throws over the limit, and passes again once the wait that it tells is over', () => {
    const error = thrown(() => new Standard().greet('bob')) as RateLimitExceededError;
    expect(error).toBeInstanceOf(RateLimitExceededError);
    expect(error).toMatchObject({
      name: 'RateLimitExceededError',
      code: 'ERR_RATE_LIMITED',
      status: 429,
      statusCode: 429,
      message: 'over the limit "greet"; try again in 60 s',
      policy: { name: 'greet', limit: 1, windowMs: 60_000 },
      decision: { allowed: false, retryAfterSeconds: 60 },
    });
    clock.advance(error.decision.retryAfterMs);
    expect(new Standard().greet('bob')).toBe('hello bob');
  });

  it('limits by a key of the arguments', () => {
    const accounts = new Standard();
    expect(accounts.login('ann', 'x')).toBe('ann');
    expect(accounts.login('bob', 'x')).toBe('bob');
    expect(() => accounts.login('ann', 'y')).toThrow(RateLimitExceededError);
  });

  it('rejects in an async method, never throws', async () => {
    const service = new Standard();
    expect(await service.later()).toBe('later');
    await expect(service.later()).rejects.toThrow(RateLimitExceededError);
  });

  it('limits static methods', () => {
    expect([Standard.shared(), Standard.shared()]).toEqual(['shared', 'shared']);
    expect(() => Standard.shared()).toThrow(RateLimitExceededError);
  });

  it('keeps the method’s name and length', () => {
    expect(Standard.prototype.login.name).toBe('login');
    expect(Standard.prototype.login).toHaveLength(2);
  });

  it('limits by the request’s key inside an adapter’s context', () => {
    class Service {
      @RateLimit(once)
      run(): string {
        return 'run';
      }
    }
    const service = new Service();
    const as = (user: string) => requestContext.run({ key: () => user }, () => service.run());
    expect([as('ann'), as('bob')]).toEqual(['run', 'run']);
    expect(() => as('ann')).toThrow(RateLimitExceededError);
  });
});

describe('@RateLimit, as a legacy decorator', () => {
  class Legacy {
    login(email: string): string {
      return email;
    }
  }
  Reflect.defineMetadata('route', '/login', Legacy.prototype.login);
  const key = (email: string) => email;
  decorate([RateLimit({ ...once, key })], Legacy.prototype, 'login');

  it('limits the method', () => {
    const legacy = new Legacy();
    expect(legacy.login('ann')).toBe('ann');
    expect(() => legacy.login('ann')).toThrow(RateLimitExceededError);
  });

  it('keeps what other decorators left on it', () => {
    expect(Reflect.getMetadata('route', Legacy.prototype.login)).toBe('/login');
  });
});

describe('@RateLimit with a limiter', () => {
  it('keeps methods apart that share one, by their prefixes', () => {
    const limiter = new TokenBucketLimiter({ capacity: 1, refillPerSecond: 1, clock: clock.now });
    const key = (name: string) => name;
    class Shared {
      @RateLimit({ limiter, keyPrefix: 'a', key })
      a(_: string) {
        return 'a';
      }

      @RateLimit({ limiter, keyPrefix: 'a:b', key })
      b(_: string) {
        return 'b';
      }
    }
    const shared = new Shared();
    expect([shared.a('b:c'), shared.b('c')]).toEqual(['a', 'b']);
    expect(() => shared.a('b:c')).toThrow(RateLimitExceededError);
  });

  it('becomes async with one that answers later', async () => {
    const limiter = new FakeRemote(
      new TokenBucketLimiter({ capacity: 1, refillPerSecond: 1, clock: clock.now }),
    );
    class Later {
      @RateLimit({ limiter })
      run() {
        return 'run';
      }
    }
    expect(await new Later().run()).toBe('run');
    await expect(new Later().run()).rejects.toThrow(RateLimitExceededError);
  });

  it('refuses a key that is none, in the method’s own way', () => {
    class Bad {
      @RateLimit({ ...once, keyPrefix: 'p', key: () => undefined as never })
      run() {}
    }
    expect(() => new Bad().run()).toThrow(/invalid key undefined/);
  });
});

describe('@RateLimit with wrong options', () => {
  it.each([
    [{ limit: 0 }, /limit must be a whole number/],
    [{ limit: Number.NaN }, /limit must be/],
    [{ windowSeconds: 0 }, /windowSeconds \* 1000 must be/],
    [{ windowMs: -1 }, /windowMs must be/],
    [{ windowMs: 1, windowSeconds: 1 }, /not both/],
    [{ keyPrefix: 'ä' }, /name must be/],
    [{ key: 'id' }, /key must be a function/],
    [{ window: 5 }, /unknown option "window"/],
  ])('%o is refused where it is written', (options, message) => {
    expect(() => RateLimit(options as never)).toThrow(message);
  });

  it('is refused on what is no method', () => {
    const decorator = RateLimit(once) as unknown as (...args: unknown[]) => unknown;
    expect(() => decorator(class {}, { kind: 'class', name: 'x' })).toThrow(/marks methods/);
    expect(() => decorator({}, 'field', undefined)).toThrow(/marks methods/);
  });
});
