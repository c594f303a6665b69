// A process of its own for one measurement: the job comes as JSON in argv[2], the result goes out as JSON on stdout.
import { TokenBucketLimiter } from '../../src/index.ts';
import { follow, keysOf } from './asking.ts';
import { type Crew, startCrew } from './crew.ts';
import { type Case, PLENTY, type ThreadsJob, type ThreadsResult } from './job.ts';

const CHECK_LIMIT = 1_000;
const WARM_UPS = 2;

/** Every subject admits exactly the limit, however many ask. */
async function check({ subject, workers }: Case): Promise<void> {
  const crew = await startCrew({ subject, workers, keys: 1, own: false, capacity: CHECK_LIMIT });
  const reports = await crew.order({ order: 'check', calls: CHECK_LIMIT });
  crew.end();
  const allowed = reports.reduce((sum, report) => sum + report.allowed, 0);
  if (allowed !== CHECK_LIMIT) throw new Error(`${subject} admitted ${allowed} of ${CHECK_LIMIT}`);
}

async function sample(crew: Crew, ms: number): Promise<number[]> {
  const reports = await crew.order({ order: 'run', ms });
  for (const { calls, allowed } of reports) {
    if (calls !== allowed)
      throw new Error(`${calls - allowed} of ${calls} timed calls were denied`);
  }
  return reports.map((report) => (report.calls / report.ms) * 1_000);
}

/** This thread alone, on a clock that costs nothing: for the two builds side by side. */
function alone({ subject, keys }: Case): Crew {
  const limiter = new TokenBucketLimiter({
    capacity: PLENTY,
    refillPerSecond: 1,
    maxKeys: keys,
    shared: subject === 'alone',
    clock: () => 1,
  });
  const asked = keysOf({ keys, own: false, share: 0, shares: 1 });
  const ask = { now: (key: string) => limiter.isAllowed(key) };
  return { order: async (order) => [await follow(order, ask, asked)], end: () => limiter.close() };
}

async function crewFor(job: Case): Promise<Crew> {
  if (job.subject === 'private' || job.subject === 'alone') return alone(job);
  if (job.subject === 'cluster') {
    const { RateLimiterClusterMaster } = await import('rate-limiter-flexible');
    new RateLimiterClusterMaster();
  }
  if (job.subject !== 'base') await check(job);
  return await startCrew({ ...job, capacity: PLENTY });
}

async function measure(job: ThreadsJob): Promise<ThreadsResult> {
  const crew = await crewFor(job);
  for (let i = 0; i < WARM_UPS; i++) await sample(crew, job.sampleMs);
  const samples: number[][] = [];
  for (let i = 0; i < job.samples; i++) samples.push(await sample(crew, job.sampleMs));
  crew.end();
  return { samples };
}

const result = await measure(JSON.parse(process.argv[2] as string));
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit());
