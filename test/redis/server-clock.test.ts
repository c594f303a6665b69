import { describe, expect, it } from 'vitest';
import { ServerClock } from '../../src/redis/server-clock.ts';

const DEADLINE_US = 50_000;
/** The server is a second ahead. */
const AHEAD_US = 1_000_000;

describe('what is known of a server’s clock', () => {
  it('is never too late by more than an answer in time took', () => {
    const clock = new ServerClock(false);
    clock.learnAny(AHEAD_US + 300, 0);
    // The first answer of a script had to be sent for again, and took longer than anybody waits.
    clock.learn(0, AHEAD_US + 70_000, 0, 70_300, DEADLINE_US);
    expect(clock.serverTime(0, 100_000)).toBe(AHEAD_US + 100_300);
  });

  it('is learned of each slot of a cluster from an answer in time', () => {
    const clock = new ServerClock(true);
    clock.learnAny(AHEAD_US + 300, 0);
    clock.learn(7, 2 * AHEAD_US + 70_000, 0, 70_300, DEADLINE_US);
    expect(clock.serverTime(7, 100_000)).toBe(AHEAD_US + 100_300);
    clock.learn(7, 2 * AHEAD_US + 200, 0, 400, DEADLINE_US);
    expect(clock.serverTime(7, 100_000)).toBe(2 * AHEAD_US + 100_200);
  });

  it('follows a clock that was set', () => {
    const clock = new ServerClock(false);
    clock.learnAny(AHEAD_US, 0);
    for (const ahead of [5_000_000, -5_000_000]) {
      clock.learn(0, 1_000 + ahead + 100, 1_000, 1_200, DEADLINE_US);
      const error = clock.serverTime(0, 0) - ahead;
      expect(error).toBeGreaterThanOrEqual(-100);
      expect(error).toBeLessThanOrEqual(100);
    }
  });
});
