import { isDeepStrictEqual } from 'node:util';
import { arrivalOrder } from '../arrivals.ts';
import { KEY_KINDS, type KeyForm, type KeyStream, keyStreams, USUAL_LENGTH } from '../keys.ts';
import {
  loadAny,
  loadSubject,
  PACKAGES,
  RIVALS,
  type SubjectName,
  titleOf,
} from '../subjects/index.ts';
import { ask } from '../subjects/subject.ts';
import { tickingClock } from '../ticking-clock.ts';
import { LONG_WINDOW_MS, METHODS, type Method } from '../workloads.ts';
import { askerOfMany } from './batches.ts';

export interface CheckJob {
  readonly measure: 'check';
}

export interface CheckResult {
  readonly calls: number;
  readonly denied: number;
}

const CALLS = 50_000;
const KEYS = 50;
const MANY = 100;
const ORDER = arrivalOrder({ arrivals: 'uniform', live: KEYS, limiters: 1 }).subarray(0, CALLS);

/**
 * Numbers with few binary digits, so that the rivals' floating point is exact too. A key comes every 6.25 ms and gets a
 * token every 8 ms: after the first burst about one call in five is denied.
 */
const STEP_MS = 1 / 8;
const POLICY = { capacity: 5, refillIntervalMs: 8, windowMs: LONG_WINDOW_MS };

const FORMS: readonly KeyForm[] = [
  ...KEY_KINDS.map((kind) => ({ kind, length: USUAL_LENGTH, wide: false })),
  { kind: 'fresh', length: USUAL_LENGTH, wide: true },
];

/** Every rival gives the same answers as we do, or there is nothing to compare: an error says where they part. */
export async function check(_job: CheckJob): Promise<CheckResult> {
  let calls = 0;
  let denied = 0;
  for (const form of FORMS) {
    for (const method of METHODS) {
      const ours = await answers('sluicegate', form, method);
      for (const rival of RIVALS) {
        const theirs = await answers(rival, form, method);
        expectSame(ours, theirs, `${titleOf(rival)}, ${form.kind} keys, ${method}`);
      }
      calls += ours.length;
      denied += ours.filter((answer) => !isAllowed(answer)).length;
    }
  }
  if (denied === 0 || denied === calls) throw new Error('the check must see both answers');
  await checkPackages();
  return { calls, denied };
}

/** Packages read real clocks: within a window that does not end, each lets the limit pass for each key, and no more. */
async function checkPackages(): Promise<void> {
  const { capacity } = POLICY;
  const refillIntervalMs = LONG_WINDOW_MS / capacity;
  for (const name of PACKAGES) {
    const create = await loadAny(name);
    const setup = { ...POLICY, refillIntervalMs, keys: 20 * KEYS, clock: () => 0 };
    const limiter = create(setup);
    const { at } = streamOf(FORMS[0] as KeyForm);
    const passed = new Map<unknown, number>();
    for (let i = 0; i < 10 * KEYS * capacity; i++) {
      if (await ask(limiter, at(i))) passed.set(at(i), (passed.get(at(i)) ?? 0) + 1);
    }
    const counts = [...passed.values()];
    if (counts.length !== KEYS || counts.some((count) => count !== capacity)) {
      throw new Error(`unequal work: ${titleOf(name)} lets ${counts} pass of ${capacity}`);
    }
  }
}

async function answers(subject: SubjectName, form: KeyForm, method: Method): Promise<unknown[]> {
  const create = await loadSubject(subject);
  const clock = tickingClock(STEP_MS);
  const limiter = create({ ...POLICY, keys: 20 * KEYS, clock: clock.now });
  const { at } = streamOf(form);
  if (method === 'isAllowedMany') {
    const [askMany, out] = [askerOfMany(limiter), new Uint8Array(MANY)];
    return Array.from({ length: CALLS / MANY }, (_, batch) => {
      for (let i = 0; i < MANY; i++) clock.tick();
      const allowed = askMany(
        Array.from({ length: MANY }, (_, i) => at(batch * MANY + i)),
        out,
      );
      if (allowed !== out.filter((each) => each === 1).length) throw new Error('miscounted');
      return Array.from(out, (each) => each === 1);
    }).flat();
  }
  return Array.from({ length: CALLS }, (_, i) => {
    clock.tick();
    return limiter[method](at(i));
  });
}

function streamOf(form: KeyForm): KeyStream {
  return keyStreams(form, KEYS, ORDER).arrivals;
}

function isAllowed(answer: unknown): boolean {
  return answer === true || (answer as { allowed?: unknown }).allowed === true;
}

function expectSame(ours: unknown[], theirs: unknown[], what: string): void {
  const at = ours.findIndex((answer, i) => !isDeepStrictEqual(answer, theirs[i]));
  if (at === -1) return;
  const seen = `${JSON.stringify(theirs[at])}, Sluicegate ${JSON.stringify(ours[at])}`;
  throw new Error(`unequal work: ${what}: call ${at} answers ${seen}`);
}
