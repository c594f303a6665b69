import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** One request: milliseconds since the trace's first, and who made it. */
export interface Request {
  readonly ms: number;
  readonly client: number;
}

const MAGIC = 'RLTRACE1';

const TRACES = new URL('../traces/', import.meta.url);

/** Reads a trace of test/traces, whose README describes the format. */
export function readTrace(name: string, folder = TRACES): readonly Request[] {
  const bytes = gunzipSync(readFileSync(new URL(`${name}.bin.gz`, folder)));
  if (bytes.toString('latin1', 0, 8) !== MAGIC) throw new Error(`${name} is no trace`);
  const count = bytes.readUInt32LE(8);
  let ms = 0;
  return Array.from({ length: count }, (_, i) => {
    ms += bytes.readUInt32LE(16 + 4 * i);
    return { ms, client: bytes.readUInt32LE(16 + 4 * (count + i)) };
  });
}

/** Most of these requests of one client in any time span of that length, its start not included. */
export function worstWindow(requests: readonly Request[], windowMs: number): number {
  const times = new Map<number, number[]>();
  let worst = 0;
  for (const { ms, client } of requests) {
    const recent = (times.get(client) ?? []).filter((time) => time > ms - windowMs);
    recent.push(ms);
    times.set(client, recent);
    worst = Math.max(worst, recent.length);
  }
  return worst;
}
