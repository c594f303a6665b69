import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RedisTokenBucketLimiter, TieredLimiter } from '../../src/redis.ts';
import { RedisServer } from '../support/redis.ts';
import { ask, statuses } from './support/client.ts';
import type { Running } from './support/subject.ts';
import { subjects } from './support/subjects.ts';

const DEADLINE_MS = 1_000;
/** Generous: it shows that no request hangs. */
const SOON_MS = 5_000;

describe.each(subjects)('behind $name, a limit in Redis', (subject) => {
  let server: RedisServer;
  let redis: Redis;
  let running: Running | undefined;

  beforeEach(async () => {
    server = await RedisServer.start();
    redis = new Redis(server.port);
    redis.on('error', () => {}); // the point of these tests
  });
  afterEach(async () => {
    await running?.close();
    redis.disconnect();
    await server.stop();
  });

  it.each([
    ['open', 200],
    ['closed', 503],
  ] as const)(
    'counts there, and fails %s with %d in time when Redis has gone',
    async (onFailure, due) => {
      const remote = new RedisTokenBucketLimiter({
        redis,
        name: 'api',
        capacity: 2,
        refillPerSecond: 0.001,
        deadlineMs: DEADLINE_MS,
      });
      const limiter = new TieredLimiter({ remote, onFailure, denialCache: false });
      running = await subject.start({ mounts: [{ limiter }] });
      expect(await statuses(running.port, 3)).toEqual([200, 200, 429]);

      await server.stop();
      const started = performance.now();
      const { status, headers } = await ask(running.port);
      expect(performance.now() - started).toBeLessThan(SOON_MS);
      expect(status).toBe(due);
      expect(JSON.stringify(headers)).not.toMatch(/undefined|NaN/);
    },
  );
});
