// What a limiter adds to a request: CPU time of a hello-world server, in microseconds a request, driven by autocannon.
//
//   npm run bench:http [-- ROUNDS [FRAMEWORK...]]
//
// Each round starts every variant in a process of its own, in another order, warms it up, and counts the CPU time
// (user and system, garbage collection included) of so many requests over keep-alive connections. Wall-clock rates are
// shown too, but client and server share the machine, so compare the CPU time. What is added is told as the median of
// the rounds' own ratios to the server that sets the same headers with no limiter, with its spread.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { FRAMEWORKS, type Framework, type Variant } from './servers.ts';

const WARM_UP = 10_000;
const REQUESTS = 20_000;
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
  const options = { url: `http://127.0.0.1:${port}/`, amount, connections: CONNECTIONS };
  const started = performance.now();
  let last = started;
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const done = (error: unknown, made: autocannon.Result) =>
      error ? reject(error) : resolve(made);
    // Its own duration is in whole seconds.
    autocannon(options, done).on('response', () => {
      last = performance.now();
    });
  });
  if (result['2xx'] !== amount) throw new Error(`${result['2xx']} of ${amount} answered 200`);
  return (last - started) / 1000;
}

async function sample(framework: Framework, variant: Variant): Promise<Sample> {
  const file = fileURLToPath(new URL('servers.js', import.meta.url));
  const child = fork(file, [framework, variant]);
  const port = await message(child);
  await drive(port, WARM_UP);
  const before = await cpuTime(child);
  const seconds = await drive(port, REQUESTS);
  const micros = ((await cpuTime(child)) - before) / REQUESTS;
  child.kill();
  await once(child, 'exit');
  return { micros, perSecond: REQUESTS / seconds };
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

/** Per cent that `limited` adds to `bare`, round by round. */
function added(bare: readonly Sample[], limited: readonly Sample[]): string {
  const each = limited.map(({ micros }, i) => (micros / (bare[i] as Sample).micros - 1) * 100);
  return `${median(each).toFixed(1)} % (${spread(each)})`;
}

async function measure(framework: Framework, rounds: number): Promise<void> {
  const { rival } = FRAMEWORKS[framework];
  const variants: Variant[] = rival ? ['bare', 'ours', 'bareRival', 'rival'] : ['bare', 'ours'];
  const samples: Record<Variant, Sample[]> = { bare: [], ours: [], bareRival: [], rival: [] };
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < variants.length; i++) {
      const variant = variants[(round + i) % variants.length] as Variant;
      samples[variant].push(await sample(framework, variant));
    }
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

const [rounds = '9', ...chosen] = process.argv.slice(2);
const frameworks = (chosen.length > 0 ? chosen : Object.keys(FRAMEWORKS)) as Framework[];
console.log(
  `Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, ${rounds} rounds`,
);
for (const framework of frameworks) await measure(framework, Number(rounds));
