/** What one round of calls has shown. */
export interface Round {
  readonly perSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly decisions: number;
}

/** Asks for `ms` milliseconds, always so many calls in flight, over all keys in turn. */
export async function press(
  ask: (key: string) => Promise<boolean>,
  keys: readonly string[],
  inFlight: number,
  ms: number,
): Promise<Round> {
  const waits: number[] = [];
  const start = performance.now();
  const end = start + ms;
  let next = 0;
  const lane = async () => {
    let now = performance.now();
    while (now < end) {
      const key = keys[next++ % keys.length] as string;
      await ask(key);
      const then = performance.now();
      waits.push(then - now);
      now = then;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const seconds = (performance.now() - start) / 1000;
  waits.sort((a, b) => a - b);
  const at = (share: number) => Math.round((waits[Math.floor(waits.length * share)] ?? 0) * 1000);
  return {
    perSecond: Math.round(waits.length / seconds),
    p50Us: at(0.5),
    p99Us: at(0.99),
    decisions: waits.length,
  };
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
