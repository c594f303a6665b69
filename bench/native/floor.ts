import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../root.ts';

const SOURCE = fileURLToPath(new URL('bench/native/main.c', root));
const PROGRAM = fileURLToPath(new URL('build/native/floor', root));

/** Any will do: nobody chooses the calls' keys by it. */
export const HASH_KEY = [0x0706050403020100n, 0x0f0e0d0c0b0a0908n] as const;

/** Calls of a C program that counts as we do, and how it counts; hashed under `HASH_KEY`. */
export interface FloorJob {
  readonly maxKeys: number;
  /** Keys of the calls, in their order. */
  readonly arrivals: Uint32Array;
  readonly capacity: number;
  /** In a whole number of microseconds. */
  readonly refillIntervalMs: number;
  /** What the clock moves on by before each call. */
  readonly stepMs: number;
}

/** What a limiter has done to some calls. */
export interface Counts {
  readonly allowed: number;
  readonly denied: number;
  /** Of all answers in their order. */
  readonly digest: number;
  readonly evictedIdle: number;
  readonly overflowed: number;
  readonly liveKeys: number;
}

/** Nanoseconds a call. */
export interface FloorTimes {
  /** Of a loop that calls no limiter. */
  readonly base: readonly number[];
  readonly limiter: readonly number[];
}

/** The C compiler: the variable CC, or cc; undefined where there is none. */
export function findCompiler(): string | undefined {
  const compiler = process.env.CC || 'cc';
  return spawnSync(compiler, ['--version'], { stdio: 'ignore' }).status === 0
    ? compiler
    : undefined;
}

/** Compiles the program. Its warnings are errors. */
export function compileFloor(compiler: string): void {
  mkdirSync(dirname(PROGRAM), { recursive: true });
  const flags = ['-std=gnu11', '-O3', '-Wall', '-Wextra', '-Werror'];
  const { status } = spawnSync(compiler, [...flags, '-o', PROGRAM, SOURCE, '-lm'], {
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`${compiler} did not compile ${SOURCE}`);
}

export function floorCounts(job: FloorJob): Counts {
  return run('check', job, 0);
}

export function floorTimes(job: FloorJob, samples: number): FloorTimes {
  return run('time', job, samples);
}

/** In a fresh process. */
function run<Result>(mode: 'check' | 'time', job: FloorJob, samples: number): Result {
  const { arrivals, maxKeys, capacity, refillIntervalMs, stepMs } = job;
  const rate = [1, Math.round(refillIntervalMs * 1000)];
  const numbers = [maxKeys, arrivals.length, capacity, ...rate, stepMs, samples, ...HASH_KEY];
  const child = spawnSync(PROGRAM, [mode, ...numbers.map(String)], {
    input: arrivals,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (child.error !== undefined) throw child.error;
  if (child.status !== 0) throw new Error(`floor ${mode} ended by ${child.signal ?? child.status}`);
  return JSON.parse(child.stdout);
}
