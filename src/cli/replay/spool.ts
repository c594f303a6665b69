import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BATCH_LENGTH, Batch } from '../../replay/batch.ts';
import { CliFault } from '../fault.ts';

const BYTES_A_BATCH = BATCH_LENGTH * (8 + 4 + 8);

/**
 * The traffic in a temporary file, 20 bytes a request, to be replayed again and again: a log on standard input is read
 * once, and a large one does not fit into memory. Times, client numbers and costs only: no name, no address.
 */
export class Spool {
  requests = 0;
  clients = 0;
  readonly #folder: string;
  readonly #file: number;
  #lengths: number[] = [];

  constructor() {
    try {
      this.#folder = mkdtempSync(join(tmpdir(), 'sluicegate-replay-'));
      this.#file = openSync(join(this.#folder, 'requests'), 'wx+', 0o600);
      // An open file needs no name, and without one nothing is left behind by Ctrl-C. Windows sees that differently.
      if (process.platform !== 'win32') this.#remove();
    } catch (error) {
      throw fault(error);
    }
  }

  add({ times, clients, costs, length }: Batch): void {
    const at = this.#lengths.length * BYTES_A_BATCH;
    try {
      this.#write(times, at);
      this.#write(costs, at + times.byteLength);
      this.#write(clients, at + 2 * times.byteLength);
    } catch (error) {
      throw fault(error);
    }
    this.#lengths.push(length);
    this.requests += length;
    for (let i = 0; i < length; i++) {
      this.clients = Math.max(this.clients, (clients[i] as number) + 1);
    }
  }

  /** The batches in their order, each valid until the next. */
  *batches(): Generator<Batch> {
    const batch = new Batch();
    for (const [index, length] of this.#lengths.entries()) {
      const at = index * BYTES_A_BATCH;
      this.#read(batch.times, at);
      this.#read(batch.costs, at + batch.times.byteLength);
      this.#read(batch.clients, at + 2 * batch.times.byteLength);
      batch.length = length;
      yield batch;
    }
  }

  close(): void {
    closeSync(this.#file);
    this.#remove();
  }

  #remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #write(column: Float64Array | Uint32Array, at: number): void {
    const bytes = Buffer.from(column.buffer);
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.#file, bytes, done, bytes.length - done, at + done);
    }
  }

  #read(column: Float64Array | Uint32Array, at: number): void {
    const bytes = Buffer.from(column.buffer);
    for (let done = 0; done < bytes.length; ) {
      const read = readSync(this.#file, bytes, done, bytes.length - done, at + done);
      if (read === 0) throw new CliFault('the temporary file of the requests was cut', 1);
      done += read;
    }
  }
}

function fault(error: unknown): CliFault {
  const cause = error instanceof Error ? error.message : String(error);
  return new CliFault(`cannot keep the requests in ${tmpdir()}: ${cause}; TMPDIR names another`, 1);
}
