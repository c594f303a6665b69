const QUIET_MS = 30_000;
let lastShown = 0;

/** Tells what is being measured: overwritten by the next step on a terminal, twice a minute in a log. */
export function progress(step: string): void {
  if (process.stderr.isTTY) {
    process.stderr.write(`\r\x1b[K${step}`);
  } else if (step !== '' && performance.now() - lastShown > QUIET_MS) {
    lastShown = performance.now();
    console.error(`... ${step}`);
  }
}
