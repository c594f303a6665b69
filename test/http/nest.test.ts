import { Controller, Get, Injectable, Module, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterEach, describe, expect, it } from 'vitest';
import { RateLimit, RateLimitModule, rateLimit, SkipRateLimit } from '../../src/adapters/nest.ts';
import { ManualClock } from '../../src/testing.ts';
import { ask, statuses } from './support/client.ts';
import { decorate } from './support/legacy.ts';
import 'reflect-metadata';

const clock = new ManualClock();
const limit = (count: number) => ({ limit: count, windowMs: 60_000, clock: clock.now });
let app: Awaited<ReturnType<typeof NestFactory.create>> | undefined;

afterEach(() => app?.close());

type Routes = Record<string, readonly unknown[]>;

/** A controller whose methods answer their names, marked as legacy decorators mark them. */
function controllerOf(routes: Routes): new () => object {
  class AnyController {}
  for (const name of Object.keys(routes)) {
    Object.defineProperty(AnyController.prototype, name, {
      value: () => name,
      configurable: true,
      writable: true,
    });
    decorate(routes[name] as unknown[], AnyController.prototype, name);
  }
  Controller()(AnyController);
  return AnyController;
}

async function serve(controller: new () => object, imports: unknown[]): Promise<number> {
  class AppModule {}
  Module({ controllers: [controller], imports: imports as never })(AppModule);
  app = await NestFactory.create(AppModule, { logger: false });
  await app.listen(0, '127.0.0.1');
  return Number(new URL(await app.getUrl()).port);
}

describe('a route marked @RateLimit', () => {
  it('has its own limit instead of the module’s, above or below @Get', async () => {
    const marked = () => RateLimit({ limit: 1, clock: clock.now, keyPrefix: 'login' });
    const controller = controllerOf({
      above: [marked(), Get('above')],
      below: [Get('below'), marked()],
      other: [Get('other')],
    });
    const port = await serve(controller, [RateLimitModule.forRoot(limit(3))]);
    for (const path of ['/above', '/below']) {
      const { headers } = await ask(port, path);
      expect(headers['ratelimit-policy']).toBe('"login";q=1;w=60');
      expect(await statuses(port, 1, path)).toEqual([429]);
    }
    expect(await statuses(port, 4, '/other')).toEqual([200, 200, 200, 429]);
  });

  it('is limited per client, by the guard’s key', async () => {
    const controller = controllerOf({
      login: [Get('login'), RateLimit({ limit: 1, clock: clock.now, keyPrefix: 'login' })],
    });
    const key = (_: unknown, facts: { header(name: string): string | undefined }) =>
      facts.header('x-user') ?? 'nobody';
    const port = await serve(controller, [RateLimitModule.forRoot({ key })]);
    for (const user of ['ann', 'bob']) {
      const headers = { 'x-user': user };
      expect(await statuses(port, 2, '/login', { headers })).toEqual([200, 429]);
    }
  });

  it('limits by a key of its arguments beside the module’s limit', async () => {
    const key = () => 'everybody';
    const controller = controllerOf({
      all: [Get('all'), RateLimit({ limit: 1, clock: clock.now, key })],
    });
    const port = await serve(controller, [RateLimitModule.forRoot(limit(9))]);
    const first = await ask(port, '/all');
    expect(first.headers['ratelimit-policy']).toBe('"default";q=9;w=60');
    const second = await ask(port, '/all');
    expect(second.status).toBe(429);
    expect(second.headers['retry-after']).toBe('60');
    expect(JSON.parse(second.body)).toMatchObject({ 'violated-policies': ['all'] });
  });
});

it('@SkipRateLimit takes a route out', async () => {
  const controller = controllerOf({
    health: [Get('health'), SkipRateLimit()],
    other: [Get('other')],
  });
  const port = await serve(controller, [RateLimitModule.forRoot(limit(1))]);
  expect(await statuses(port, 5, '/health')).toEqual(Array(5).fill(200));
  expect(await statuses(port, 2, '/other')).toEqual([200, 429]);
});

it('a guard alone limits what it guards, and answers without the module', async () => {
  const controller = controllerOf({
    guarded: [Get('guarded'), UseGuards(rateLimit(limit(1)))],
    free: [Get('free')],
  });
  const port = await serve(controller, []);
  await ask(port, '/guarded');
  const { status, headers, body } = await ask(port, '/guarded');
  expect(status).toBe(429);
  expect(headers['retry-after']).toBe('60');
  expect(headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(JSON.parse(body)).toMatchObject({ status: 429 });
  expect(await statuses(port, 3, '/free')).toEqual([200, 200, 200]);
});

it('services that are marked answer 429 through the module', async () => {
  class Mailer {
    send() {
      return 'sent';
    }
  }
  decorate([RateLimit({ limit: 1, clock: clock.now })], Mailer.prototype, 'send');
  Injectable()(Mailer);
  const mailer = new Mailer();
  class MailController {
    send() {
      return mailer.send();
    }
  }
  decorate([Get('send')], MailController.prototype, 'send');
  Controller()(MailController);
  const port = await serve(MailController, [RateLimitModule.forRoot()]);
  expect(await statuses(port, 2, '/send')).toEqual([200, 429]);
  expect((await ask(port, '/send')).headers['cache-control']).toBe('no-store');
});

describe('options of a guard', () => {
  it('refuse context, which a guard cannot set, and typing errors', () => {
    expect(() => rateLimit({ ...limit(1), context: true })).toThrow(/sluicegate\/express/);
    expect(() => rateLimit({ limt: 5 } as never)).toThrow(/unknown option "limt"/);
    expect(() => rateLimit({ ...limit(1), maxx: 5 } as never)).toThrow(/unknown option "maxx"/);
  });
});
