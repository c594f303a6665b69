// Measures us and our rivals, each subject and workload in a process of its own, and prints and keeps a report.
import { benchOptions, type Effort, optionsOr, USAGE } from './options.ts';
import { jobRunner } from './processes.ts';
import { progress } from './progress.ts';
import { type Run, writeReadme } from './readme.ts';
import { asText } from './render.ts';
import { describe, originOf, writeReport } from './report.ts';
import { goals } from './sections/goals.ts';
import { measureHeap } from './sections/heap.ts';
import { measureLatency } from './sections/latency.ts';
import { measureMemory } from './sections/memory.ts';
import { measurePackages } from './sections/packages.ts';
import type { Measure, Measured } from './sections/section.ts';
import { measureTiming } from './sections/timing.ts';
import { checkWorkloads } from './sections/workloads.ts';

function measureOn(node: string, effort: Effort): Run {
  const run = jobRunner(node);
  const origin = originOf(node);
  console.log(describe(origin, effort));
  if (origin.load > origin.cores / 2) {
    console.log('Something else is running here: the figures will wobble.');
  }
  const { calls, denied } = run({ measure: 'check' });
  console.log(`\nChecked: the same answers to ${calls} calls, ${denied} of them denials.`);

  function shown<Row>(measured: Measured<Row>): Measured<Row> {
    progress('');
    if (measured.rows.length > 0) console.log(`\n${asText(measured.section)}`);
    return measured;
  }
  const measure = <Row>(section: Measure<Row>) => shown(section(run, effort, progress));
  const parts = {
    workloads: measure(checkWorkloads),
    timing: measure(measureTiming),
    packages: measure(measurePackages),
    memory: measure(measureMemory),
    heap: measure(measureHeap),
    latency: measure(measureLatency),
  };
  const figures = {
    timing: parts.timing.rows,
    packages: parts.packages.rows,
    memory: parts.memory.rows,
    latency: parts.latency.rows,
  };
  const all = { ...parts, goals: shown(goals(figures)) };
  if (Object.values(all).every(({ rows }) => rows.length === 0)) {
    console.log(`\nNo section and no workload has "${effort.only}" in its name.`);
    process.exitCode = 2;
  }
  if (effort.only === '') console.log(`\nKept in ${writeReport(origin, effort, all)}`);
  return { origin, figures };
}

const { nodes, effort, readme } = optionsOr(USAGE, () => benchOptions(process.argv.slice(2)));
const runs = nodes.map((node) => measureOn(node, effort));
if (readme) writeReadme(runs, `npm run bench -- local${effort.quick ? ' --quick' : ''}`);
