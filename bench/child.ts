// A process of its own for one measurement: the job comes as JSON in argv[2], the result goes out as JSON on stdout.
import { check } from './measure/check.ts';
import { heap } from './measure/heap.ts';
import { latency } from './measure/latency.ts';
import { memory } from './measure/memory.ts';
import { timing } from './measure/timing.ts';
import { checkWorkload } from './measure/workload-check.ts';
import type { Job } from './processes.ts';

function measure(job: Job): Promise<unknown> {
  switch (job.measure) {
    case 'check':
      return check(job);
    case 'workload':
      return checkWorkload(job);
    case 'timing':
      return timing(job);
    case 'memory':
      return memory(job);
    case 'heap':
      return heap(job);
    case 'latency':
      return latency(job);
  }
}

const result = await measure(JSON.parse(process.argv[2] as string));
// Packages leave timers behind that would keep the process.
process.stdout.write(JSON.stringify(result), () => process.exit());
