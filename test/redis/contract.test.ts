import type { Redis as Redis6 } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { afterAll, beforeAll } from 'vitest';
import { TieredLimiter } from '../../src/redis.ts';
import { ManualClock } from '../../src/testing.ts';
import { SEAM } from '../../src/timers.ts';
import { describeLimiter } from '../contract/limiter-contract.ts';
import { RedisServer } from '../support/redis.ts';
import { REMOTES } from '../support/remotes.ts';

// In the middle of things, where no window begins.
const START_MS = 1_753_001_234_567.891;
/** What the suite is about is not how fast a busy machine answers. */
const DEADLINE_MS = 10_000;

let server: RedisServer;
const clients: Redis6[] = [];
let subjects = 0;

beforeAll(async () => {
  server = await RedisServer.start();
  clients.push(server.client(), new Redis5(server.port) as unknown as Redis6);
  for (const client of clients) server.owns(client);
});
afterAll(() => server.stop());

for (const [version, at] of [
  ['ioredis 6', 0],
  ['ioredis 5', 1],
] as const) {
  for (const [name, make] of REMOTES) {
    describeLimiter(`${name} in Redis over ${version}`, (policy) => {
      const clock = new ManualClock(START_MS);
      const limiter = make({
        ...policy,
        redis: clients[at] as Redis6,
        prefix: `subject-${subjects++}`,
        deadlineMs: DEADLINE_MS,
        [SEAM]: { scriptTime: clock.now },
      });
      return { limiter, advance: (ms) => clock.advance(ms) };
    });
  }
}

for (const [name, make] of REMOTES) {
  describeLimiter(`${name} in Redis, leased`, (policy) => {
    const clock = new ManualClock(START_MS);
    const timers = { now: clock.now, wake: () => {} };
    const remote = make({
      ...policy,
      redis: clients[0] as Redis6,
      prefix: `subject-${subjects++}`,
      deadlineMs: DEADLINE_MS,
      [SEAM]: { timers, scriptTime: clock.now },
    });
    const lease = { permits: 3, maxAgeMs: 100 };
    const limiter = new TieredLimiter({ remote, lease, onFailure: 'closed', [SEAM]: { timers } });
    return { limiter, advance: (ms) => clock.advance(ms) };
  });
}
