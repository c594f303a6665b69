import { afterEach } from 'vitest';
import type { RateLimiter } from '../../src/index.ts';

/** A limiter, nobody else on it, and a way to let time pass for it. */
export interface Subject {
  readonly limiter: RateLimiter;
  advance(ms: number): void | Promise<void>;
}

export interface SubjectPolicy {
  readonly name: string;
  readonly limit: number;
  readonly windowMs: number;
}

/** Makes a fresh subject of at most `limit` permits per `windowMs`; two subjects of one test are independent. */
export type MakeSubject = (policy: SubjectPolicy) => Subject | Promise<Subject>;

/** Windows are an hour, so that no permit comes back by itself while a test runs on a real clock. */
export const WINDOW_MS = 3_600_000;

/** Subjects for the tests of one suite, closed after each. */
export class Subjects {
  readonly #make: MakeSubject;
  readonly #made: RateLimiter[] = [];

  constructor(make: MakeSubject) {
    this.#make = make;
    afterEach(async () => {
      for (const limiter of this.#made.splice(0)) await limiter.close();
    });
  }

  async subject(limit: number, name = 'contract'): Promise<Subject> {
    const subject = await this.#make({ name, limit, windowMs: WINDOW_MS });
    this.#made.push(subject.limiter);
    return subject;
  }

  async limiter(limit: number): Promise<RateLimiter> {
    return (await this.subject(limit)).limiter;
  }
}

export async function inTurn<T>(times: number, call: () => T | Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let i = 0; i < times; i++) results.push(await call());
  return results;
}
