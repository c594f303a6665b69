// Measures us and our rivals, each subject and workload in a process of its own, and prints and keeps a report.
import { type BenchOptions, benchOptions, USAGE } from './options.ts';
import { jobRunner } from './processes.ts';
import { progress } from './progress.ts';
import { asText } from './render.ts';
import { describe, originOf, writeReport } from './report.ts';
import { measureHeap } from './sections/heap.ts';
import { measureLatency } from './sections/latency.ts';
import { measureMemory } from './sections/memory.ts';
import type { Measure, Measured } from './sections/section.ts';
import { measureTiming } from './sections/timing.ts';

function options(): BenchOptions {
  try {
    return benchOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

const { node, effort } = options();
const run = jobRunner(node);
const origin = originOf(node);
console.log(describe(origin, effort));
if (origin.load > origin.cores / 2) {
  console.log('Something else is running here: the figures will wobble.');
}

const { calls, denied } = run({ measure: 'check' });
console.log(`\nChecked: the same answers to ${calls} calls, ${denied} of them denials.`);

function measure<Row>(section: Measure<Row>): Measured<Row> {
  const measured = section(run, effort, progress);
  progress('');
  console.log(`\n${asText(measured.section)}`);
  return measured;
}

const folder = writeReport(origin, effort, {
  timing: measure(measureTiming),
  memory: measure(measureMemory),
  heap: measure(measureHeap),
  latency: measure(measureLatency),
});
console.log(`\nKept in ${folder}`);
