import { describe } from 'vitest';
import { describeCosts } from './costs.ts';
import { describeDecisions } from './decisions.ts';
import { describeFaults } from './faults.ts';
import { describeKeys } from './keys.ts';
import { describeRefunds } from './refunds.ts';
import { type MakeSubject, Subjects } from './subject.ts';

/** What every limiter owes its callers, whatever the algorithm and wherever it counts. */
export function describeLimiter(kind: string, make: MakeSubject): void {
  describe(`${kind} keeps the limiter contract:`, () => {
    const subjects = new Subjects(make);
    describe('decisions', () => describeDecisions(subjects));
    describe('costs', () => describeCosts(subjects));
    describe('keys', () => describeKeys(subjects));
    describe('refunds', () => describeRefunds(subjects));
    describe('faults', () => describeFaults(subjects));
  });
}
