import { describe, expect, it } from 'vitest';
import { runProgram } from '../support/program.ts';

const LIMITERS = `
  import { SlidingWindowCounterLimiter, TokenBucketLimiter } from 'sluicegate';
  const limiters = () => [
    new TokenBucketLimiter({ capacity: 1, refillPerSecond: 1 }),
    new SlidingWindowCounterLimiter({ limit: 1, windowMs: 60_000 }),
  ];
`;
const PRINT_TIME_TO_EXIT = `
  const end = performance.now();
  process.on('exit', () => console.log(performance.now() - end));
`;

describe('a process', () => {
  it('that makes limiters and calls them once ends by itself and at once', () => {
    const printed = runProgram(`${LIMITERS}
      for (const limiter of limiters()) limiter.tryAcquire('ann');
      ${PRINT_TIME_TO_EXIT}
    `);
    expect(Number(printed)).toBeLessThan(1_000);
  });

  it('has nothing to wait for while its limiters are open', () => {
    const printed = runProgram(`${LIMITERS}
      const before = process.getActiveResourcesInfo();
      const open = limiters();
      for (const limiter of open) {
        limiter.tryAcquire('ann');
        limiter.peek('ann');
        limiter.refund('ann');
        limiter.reset('ann');
        limiter.stats();
      }
      const ours = process.getActiveResourcesInfo().filter((name) => !before.includes(name));
      console.log(JSON.stringify(ours));
    `);
    expect(printed).toBe('[]\n');
  });

  it('can make and close a thousand limiters, and 12 may be open at a time for ever', () => {
    const printed = runProgram(
      `${LIMITERS}
      let allowed = 0;
      const open = [];
      for (let cycle = 0; cycle < 500; cycle++) {
        for (const limiter of limiters()) {
          if (limiter.isAllowed('ann')) allowed++;
          open.push(limiter);
        }
        if (open.length > 10) open.shift().close();
        if (open.length > 10) open.shift().close();
      }
      for (const limiter of [...open, ...open]) limiter.close();
      console.log(allowed, process.getActiveResourcesInfo().includes('Timeout'));
      ${PRINT_TIME_TO_EXIT}
    `,
    );
    expect(printed).toMatch(/^1000 false\n/);
    expect(Number(printed.split('\n')[1])).toBeLessThan(1_000);
  });

  it('hears of calls on a closed limiter by an error that says what to do', () => {
    const printed = runProgram(`${LIMITERS}
      const [limiter] = limiters();
      limiter.close();
      limiter.close();
      try { limiter.tryAcquire('ann'); } catch (error) { console.log(error.name, error.code, error.message); }
    `);
    expect(printed).toMatch(/^LimiterClosedError ERR_CLOSED .*"default" is closed; make a new one/);
  });

  it('limits by real time without any clock of its own', () => {
    const printed = runProgram(`${LIMITERS}
      const begin = performance.now();
      const limiter = new TokenBucketLimiter({ capacity: 1, refillTokens: 1, refillIntervalMs: 50 });
      let allowed = 0;
      while (allowed < 4 && performance.now() - begin < 10_000) if (limiter.isAllowed('ann')) allowed++;
      console.log(allowed, performance.now() - begin);
    `);
    const [allowed = 0, elapsed = 0] = printed.split(' ').map(Number);
    // One at once, and one more every 50 ms; no upper bound, since a busy machine may pause the process.
    expect(allowed).toBe(4);
    expect(elapsed).toBeGreaterThanOrEqual(150);
  });
});
