// The limiters across machines as they are, on a network, servers and clocks that a seed decides. `npm test` plays some
// schedules, `node scripts/simulate.js [schedules] [first seed]` as many as you like; one alone is told step by step.

import { expect, it } from 'vitest';
import { Report } from './report.ts';
import { settingOf } from './settings.ts';
import { simulate } from './simulation.ts';

const FIRST = Number(process.env.SIMULATE_FIRST ?? 1);
const SCHEDULES = Number(process.env.SIMULATE_SCHEDULES ?? 2_000);
/** Lines of a schedule that say enough about a fault. */
const LINES = 60;

it('never admits more than leases allow, and all of what is there', {
  timeout: 60_000 + 100 * SCHEDULES,
}, async () => {
  const report = new Report();
  for (let seed = FIRST; seed < FIRST + SCHEDULES; seed++) {
    const outcome = await simulate(seed, SCHEDULES === 1);
    if (SCHEDULES === 1) console.log(outcome.trace.join('\n'));
    if (outcome.faults.length > 0) throw new Error(await told(seed));
    report.add(settingOf(seed), outcome);
  }
  console.log(`${report}`);
  for (const [name, { utilisation, schedules }] of report.loads) {
    // A few schedules of small limits say little.
    if (schedules >= 10) expect(utilisation, name).toBeGreaterThan(0.95);
  }
});

/** What went wrong, the schedule, and what happened last before that. */
async function told(seed: number): Promise<string> {
  const { faults, trace } = await simulate(seed, true);
  const [first = ''] = faults;
  const us = Number(/^at (\S+) ms/.exec(first)?.[1]);
  const before = trace.filter((line) => Number.parseFloat(line) <= us);
  return [
    ...faults,
    JSON.stringify(settingOf(seed)),
    ...before.slice(-LINES),
    `again, all of it: node scripts/simulate.js 1 ${seed}`,
  ].join('\n');
}
