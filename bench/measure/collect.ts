/** Collects all garbage now. */
export function collect(): void {
  if (globalThis.gc === undefined) throw new Error('the benchmark needs node --expose-gc');
  globalThis.gc();
}

/** What the process holds on to once nothing is left to collect. */
export function settledMemory(): NodeJS.MemoryUsage {
  collect();
  collect();
  return process.memoryUsage();
}
