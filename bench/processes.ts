import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { CheckJob, CheckResult } from './measure/check.ts';
import type { HeapJob, HeapResult } from './measure/heap.ts';
import type { LatencyJob, LatencyResult } from './measure/latency.ts';
import type { MemoryJob, MemoryResult } from './measure/memory.ts';
import type { TimingJob, TimingResult } from './measure/timing.ts';
import type { WorkloadCheckJob, WorkloadCheckResult } from './measure/workload-check.ts';

export type Job = CheckJob | WorkloadCheckJob | TimingJob | MemoryJob | HeapJob | LatencyJob;

/** What comes back of each kind of job. */
interface Results {
  readonly check: CheckResult;
  readonly workload: WorkloadCheckResult;
  readonly timing: TimingResult;
  readonly memory: MemoryResult;
  readonly heap: HeapResult;
  readonly latency: LatencyResult;
}

/** Runs a job in a fresh process and returns its result. */
export type RunJob = <J extends Job>(job: J) => Results[J['measure']];

const CHILD = fileURLToPath(new URL('child.js', import.meta.url));

/** The variable that names the built `dist` folder whose limiter is the subject `dist`. */
export const DIST = 'SLUICEGATE_DIST';

/**
 * Runs jobs on that Node binary, with these variables beside the usual ones; one at a time: two at once would measure
 * each other.
 */
export function jobRunner(node: string, variables: Readonly<Record<string, string>> = {}): RunJob {
  return (job) => {
    const child = spawnSync(node, ['--expose-gc', CHILD, JSON.stringify(job)], {
      encoding: 'utf8',
      env: { ...process.env, ...variables },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (child.error !== undefined) throw child.error;
    if (child.status !== 0) {
      throw new Error(`no result (${child.signal ?? child.status}) from ${JSON.stringify(job)}`);
    }
    return JSON.parse(child.stdout);
  };
}

/** Version of a Node binary and of its engine. */
export function versionsOf(node: string): { readonly node: string; readonly v8: string } {
  const script = 'JSON.stringify({ node: process.versions.node, v8: process.versions.v8 })';
  const child = spawnSync(node, ['-p', script], { encoding: 'utf8' });
  if (child.error !== undefined) throw child.error;
  return JSON.parse(child.stdout);
}
