import type { WriteStream } from 'node:tty';

const EVERY_MS = 100;
const WIDTH = 30;

/** A bar on a terminal's last line, on standard error; nothing where no person is looking. */
export class Progress {
  readonly #out: WriteStream | undefined;
  #nextMs = 0;
  #isShown = false;

  constructor(out: WriteStream & { isTTY?: boolean }) {
    this.#out = out.isTTY ? out : undefined;
  }

  /** `done` of `total` bytes or steps; a total that is not known is 0. */
  show(label: string, done: number, total: number): void {
    const now = performance.now();
    if (this.#out === undefined || now < this.#nextMs) return;
    this.#nextMs = now + EVERY_MS;
    this.#isShown = true;
    this.#out.write(`\r\x1b[K${line(label, done, total)}`);
  }

  clear(): void {
    if (this.#isShown) this.#out?.write('\r\x1b[K');
    this.#isShown = false;
    this.#nextMs = 0;
  }
}

function line(label: string, done: number, total: number): string {
  if (total <= 0) return `${label} ${(done / 2 ** 20).toFixed(0)} MiB`;
  const share = Math.min(1, done / total);
  const filled = Math.round(share * WIDTH);
  return `${label} [${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${Math.floor(share * 100)} %`;
}
