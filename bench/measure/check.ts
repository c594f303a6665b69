import { isDeepStrictEqual } from 'node:util';
import { KEY_KINDS, type KeyKind, keyStreams } from '../keys.ts';
import { loadSubject, RIVALS, type SubjectName, titleOf } from '../subjects/index.ts';
import { tickingClock } from '../ticking-clock.ts';
import { arrivalOrder, METHODS, type Method, type Workload } from '../workloads.ts';

export interface CheckJob {
  readonly measure: 'check';
}

export interface CheckResult {
  readonly calls: number;
  readonly denied: number;
}

const CALLS = 50_000;
const KEYS = 50;

/**
 * Numbers with few binary digits, so that the rivals' floating point is exact too. A key comes every 6.25 ms and gets a
 * token every 8 ms: after the first burst about one call in five is denied.
 */
const STEP_MS = 1 / 8;
const POLICY = { capacity: 5, refillIntervalMs: 8 };

/** Every rival gives the same answers as we do, or there is nothing to compare: an error says where they part. */
export async function check(_job: CheckJob): Promise<CheckResult> {
  let calls = 0;
  let denied = 0;
  for (const kind of KEY_KINDS) {
    for (const method of METHODS) {
      const ours = await answers('sluicegate', kind, method);
      for (const rival of RIVALS) {
        const theirs = await answers(rival, kind, method);
        expectSame(ours, theirs, `${titleOf(rival)}, ${kind} keys, ${method}`);
      }
      calls += ours.length;
      denied += ours.filter((answer) => !isAllowed(answer)).length;
    }
  }
  if (denied === 0 || denied === calls) throw new Error('the check must see both answers');
  return { calls, denied };
}

async function answers(subject: SubjectName, kind: KeyKind, method: Method): Promise<unknown[]> {
  const create = await loadSubject(subject);
  const clock = tickingClock(STEP_MS);
  const limiter = create({ ...POLICY, keys: 20 * KEYS, clock: clock.now });
  const workload: Workload = { kind, keys: KEYS, limiters: 1, methods: [method] };
  const { arrivals } = keyStreams(kind, KEYS, arrivalOrder(workload));
  return Array.from({ length: CALLS }, (_, i) => {
    clock.tick();
    return limiter[method](arrivals.at(i));
  });
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
