// Limits in Redis, ours and others', over one redis-server of the benchmark's own and one connection each.
//
//   node build/bench/redis/main.js [--quick]
//
// A figure includes everything between the call and its answer: building the key, ioredis, the loopback, Redis. All run
// the same calls; that they decide alike is checked first. Rounds of all subjects take turns, so that what else the
// machine does falls on everyone. A row shows its median and its slowest and fastest round, and two ratios to the faster
// rival: of the medians, and of the fastest rounds, which are those that the machine's other work disturbed least.

import { median, press, type Round } from './load.ts';
import { BenchServer } from './server.ts';
import {
  FLOOR_NAMES,
  LEASED_NAMES,
  NAMES,
  type Policy,
  type Subject,
  subject,
} from './subjects.ts';

interface Workload {
  readonly title: string;
  readonly policy: Policy;
  readonly keys: readonly string[];
}

const keysOf = (count: number) => Array.from({ length: count }, (_, i) => `account:${1e9 + i}`);
const WORKLOADS: readonly Workload[] = [
  {
    title: 'every call admitted, 1,000 keys',
    policy: { limit: 1_000_000, windowMs: 3_600_000 },
    keys: keysOf(1_000),
  },
  {
    title: 'nearly every call denied, 10 keys of 5 permits',
    policy: { limit: 5, windowMs: 3_600_000 },
    keys: keysOf(10),
  },
];
const IN_FLIGHT = [1, 16, 128];

const LEASED_WORKLOADS: readonly Workload[] = [1, 1_000].map((keys) => ({
  title: keys === 1 ? 'leases, one hot key' : 'leases, 1,000 keys',
  policy: { limit: 1_000_000_000, windowMs: 3_600_000 },
  keys: keysOf(keys),
}));

const quick = process.argv.includes('--quick');
const ROUNDS = quick ? 3 : 7;
const ROUND_MS = quick ? 150 : 400;

/** They decide alike: five pass, the rest does not. */
async function check(server: BenchServer): Promise<void> {
  for (const name of [...NAMES, ...LEASED_NAMES]) {
    await server.clear();
    const { ask, close } = await subject(name, { limit: 5, windowMs: 3_600_000 }, server.port);
    const answers: boolean[] = [];
    for (let i = 0; i < 8; i++) answers.push(await ask('checked'));
    close();
    if (`${answers}` !== 'true,true,true,true,true,false,false,false') {
      throw new Error(`${name} decides ${answers}`);
    }
  }
}

async function run(
  server: BenchServer,
  { policy, keys }: Workload,
  inFlight: number,
  names: readonly string[],
) {
  await server.clear();
  const subjects: Subject[] = [];
  for (const name of names) subjects.push(await subject(name, policy, server.port));
  const rounds = new Map<Subject, Round[]>(subjects.map((one) => [one, []]));
  for (const one of subjects) await press(one.ask, keys, inFlight, ROUND_MS);
  for (let i = 0; i < ROUNDS; i++) {
    for (const one of subjects)
      rounds.get(one)?.push(await press(one.ask, keys, inFlight, ROUND_MS));
  }
  for (const one of subjects) one.close();
  return rounds;
}

function print(rounds: Map<Subject, Round[]>): void {
  const speeds = (list: Round[]) => list.map((round) => round.perSecond);
  const rivals = [...rounds].filter(([one]) => one.rival).map(([, list]) => speeds(list));
  const rivalMedian = Math.max(...rivals.map(median));
  const rivalFastest = Math.max(...rivals.flat());
  console.log(
    'limiter                   decisions/s   (slowest - fastest)   p50 us   p99 us   medians   fastest',
  );
  for (const [{ name, rival }, list] of rounds) {
    const all = speeds(list);
    const spread = `${Math.min(...all)} - ${Math.max(...all)}`;
    const cells = [
      `${rival ? '* ' : '  '}${name}`.padEnd(26),
      `${median(all)}`.padStart(11),
      spread.padStart(22),
      `${median(list.map((round) => round.p50Us))}`.padStart(9),
      `${median(list.map((round) => round.p99Us))}`.padStart(9),
      (median(all) / rivalMedian).toFixed(2).padStart(9),
      (Math.max(...all) / rivalFastest).toFixed(2).padStart(10),
    ];
    console.log(cells.join(''));
  }
}

/** What a decision costs the server and the wire, counted and not timed. */
async function count(
  server: BenchServer,
  { title, policy, keys }: Workload,
  names: readonly string[],
): Promise<void> {
  const calls = 20_000;
  console.log(`\n${title}: counted over ${calls} decisions, one at a time`);
  console.log(
    'limiter                   round trips   commands   bytes to Redis   bytes back   (each per decision)',
  );
  for (const name of names) {
    await server.clear();
    const { ask, close, rival } = await subject(name, policy, server.port);
    for (let i = 0; i < 2_000; i++) await ask(keys[i % keys.length] as string);
    const before = await server.counts();
    for (let i = 0; i < calls; i++) await ask(keys[i % keys.length] as string);
    const after = await server.counts();
    close();
    // The two INFO calls that count are part of what is counted: about 50 bytes in, 5,000 out.
    const per = (what: keyof typeof after) => (after[what] - before[what]) / calls;
    const cells = [
      `${rival ? '* ' : '  '}${name}`.padEnd(26),
      per('scripts').toFixed(3).padStart(11),
      (per('commands') - per('scripts')).toFixed(2).padStart(11),
      per('bytesIn').toFixed(0).padStart(17),
      per('bytesOut').toFixed(0).padStart(13),
    ];
    console.log(cells.join(''));
  }
}

/** Bucket4j's trips are those that its documentation of the Lettuce and Jedis integrations states. */
function compareTrips(): void {
  console.log(`
round trips a decision    Bucket4j (documented)   sluicegate   sluicegate, tiered
admitted                  2 (GET + EVAL)          1            1
denied                    1 (GET)                 1            0 while the denial is known
first use of a key        3                       1            1`);
}

const server = await BenchServer.start();
process.once('exit', () => server.stop());
try {
  console.log(`Redis ${await server.version()}, Node ${process.version}; * other packages`);
  await check(server);
  for (const workload of WORKLOADS) {
    for (const inFlight of IN_FLIGHT) {
      console.log(`\n${workload.title}, ${inFlight} in flight`);
      print(await run(server, workload, inFlight, [...NAMES, ...FLOOR_NAMES]));
    }
  }
  for (const workload of LEASED_WORKLOADS) {
    for (const inFlight of IN_FLIGHT) {
      console.log(`\n${workload.title}, ${inFlight} in flight`);
      print(await run(server, workload, inFlight, LEASED_NAMES));
    }
  }
  for (const workload of WORKLOADS) await count(server, workload, NAMES);
  for (const workload of LEASED_WORKLOADS) await count(server, workload, LEASED_NAMES);
  compareTrips();
} finally {
  server.stop();
}
