// What a limiter adds to a request: CPU time of a hello-world server, in microseconds a request, driven by autocannon.
//
//   npm run bench -- http [--quick] [FRAMEWORK...]
//
// Each round starts every variant in a process of its own and warms it up, then drives them in turns, a slice of requests
// each, so that whatever else the machine does falls on all alike. Counted is CPU time, user and system, garbage
// collection included: client and server share the machine, so the rates depend on the client too. What is added is
// told as the median of the rounds' own ratios to the server that sets such headers with no limiter, with its spread,
// and once more for the quietest round of each.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { FRAMEWORKS, type Framework, type Variant } from './servers.ts';

const WARM_UP = 10_000;
const SLICE = 3_000;
const SLICES = 10;
const CONNECTIONS = 10;

interface Sample {
  readonly micros: number;
  readonly perSecond: number;
}

async function message(child: ChildProcess): Promise<number> {
  return (await once(child, 'message'))[0];
}

function cpuTime(child: ChildProcess): Promise<number> {
  const answer = message(child);
  child.send('cpu');
  return answer;
}

/** So many requests; how long it took until the last was answered, in seconds. */
async function drive(port: number, amount: number): Promise<number> {
  const options = {
    url: `http://127.0.0.1:${port}/`,
    amount,
    connections: CONNECTIONS,
    sampleInt: 20,
  };
  const started = performance.now();
  let last = started;
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const done = (error: unknown, made: autocannon.Result) =>
      error ? reject(error) : resolve(made);
    // Its own duration is rounded to its samples.
    autocannon(options, done).on('response', () => {
      last = performance.now();
    });
  });
  if (result['2xx'] !== amount) throw new Error(`${result['2xx']} of ${amount} answered 200`);
  return (last - started) / 1000;
}

interface Subject {
  readonly variant: Variant;
  readonly child: ChildProcess;
  readonly port: number;
  micros: number;
  seconds: number;
}

async function start(framework: Framework, variant: Variant): Promise<Subject> {
  const file = fileURLToPath(new URL('servers.js', import.meta.url));
  const child = fork(file, [framework, variant]);
  const port = await message(child);
  await drive(port, WARM_UP);
  return { variant, child, port, micros: 0, seconds: 0 };
}

async function slice(subject: Subject): Promise<void> {
  const before = await cpuTime(subject.child);
  subject.seconds += await drive(subject.port, SLICE);
  subject.micros += (await cpuTime(subject.child)) - before;
}

async function round(
  framework: Framework,
  variants: readonly Variant[],
): Promise<Map<Variant, Sample>> {
  const subjects: Subject[] = [];
  for (const variant of variants) subjects.push(await start(framework, variant));
  for (let turn = 0; turn < SLICES; turn++) {
    for (let i = 0; i < subjects.length; i++) {
      await slice(subjects[(turn + i) % subjects.length] as Subject);
    }
  }
  const requests = SLICES * SLICE;
  return new Map(
    subjects.map(({ variant, child, micros, seconds }) => {
      child.kill();
      return [variant, { micros: micros / requests, perSecond: requests / seconds }];
    }),
  );
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const low = sorted[(sorted.length - 1) >> 1] ?? 0;
  const high = sorted[sorted.length >> 1] ?? 0;
  return (low + high) / 2;
}

function spread(values: readonly number[]): string {
  return `${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)}`;
}

/** Per cent that `limited` adds to `bare`: round by round, and between their quietest rounds. */
function added(bare: readonly Sample[], limited: readonly Sample[]): string {
  const each = limited.map(({ micros }, i) => (micros / (bare[i] as Sample).micros - 1) * 100);
  const least = (samples: readonly Sample[]) => Math.min(...samples.map(({ micros }) => micros));
  const quietest = (least(limited) / least(bare) - 1) * 100;
  return `${median(each).toFixed(1)} % (${spread(each)}), quietest ${quietest.toFixed(1)} %`;
}

async function measure(framework: Framework, rounds: number): Promise<void> {
  const { rival } = FRAMEWORKS[framework];
  const variants: Variant[] = rival ? ['bare', 'ours', 'bareRival', 'rival'] : ['bare', 'ours'];
  const samples: Record<Variant, Sample[]> = { bare: [], ours: [], bareRival: [], rival: [] };
  for (let i = 0; i < rounds; i++) {
    for (const [variant, sample] of await round(framework, variants)) samples[variant].push(sample);
  }
  console.log(`\n${framework}`);
  for (const variant of variants) {
    const micros = samples[variant].map((each) => each.micros);
    const rate = Math.round(median(samples[variant].map((each) => each.perSecond)));
    const cpu = `${median(micros).toFixed(1)} us CPU (${spread(micros)})`;
    console.log(`  ${variant.padEnd(10)} ${cpu}, ${rate} requests/s`);
  }
  console.log(`  ours adds ${added(samples.bare, samples.ours)}`);
  if (rival) console.log(`  ${rival} adds ${added(samples.bareRival, samples.rival)}`);
}

const args = process.argv.slice(2);
const rounds = args.includes('--quick') ? '2' : '9';
const chosen = args.filter((arg) => !arg.startsWith('--'));
const frameworks = (chosen.length > 0 ? chosen : Object.keys(FRAMEWORKS)) as Framework[];
console.log(
  `Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, ${rounds} rounds`,
);
for (const framework of frameworks) await measure(framework, Number(rounds));
