import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CliFault } from '../fault.ts';

const CHUNK = 256 * 1024;
/** Enough to tell a format. */
const HEAD = 64 * 1024;

/** A log, opened: its first bytes to look at, then all of them. */
export interface Source {
  readonly name: string;
  readonly head: Buffer;
  chunks(): AsyncGenerator<Buffer>;
}

/**
 * Opens a file, or standard input for `-`; gzip is told by its first bytes. `onBytes` hears how much was read, before
 * unpacking.
 */
export async function openSource(path: string, onBytes: (bytes: number) => void): Promise<Source> {
  const name = path === '-' ? 'standard input' : basename(path);
  try {
    const input = path === '-' ? process.stdin : await openFile(path);
    const raw = counted(input, onBytes);
    const start = await take(raw, 2);
    const isGzip = start.bytes[0] === 0x1f && start.bytes[1] === 0x8b;
    const bytes = isGzip ? unpacked(start.again()) : start.again();
    const head = await take(bytes, HEAD);
    return {
      name,
      head: head.bytes.subarray(0, HEAD),
      async *chunks() {
        try {
          yield* head.again();
        } catch (error) {
          throw readingFault(name, error);
        }
      },
    };
  } catch (error) {
    throw readingFault(name, error);
  }
}

async function openFile(path: string): Promise<Readable> {
  const file = createReadStream(path, { highWaterMark: CHUNK });
  await once(file, 'open');
  return file;
}

async function* counted(input: Readable, onBytes: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of input) {
    onBytes(chunk.length);
    yield chunk;
  }
}

function unpacked(packed: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK });
  // The error comes out of the loop that reads.
  pipeline(Readable.from(packed, { objectMode: false }), gunzip, () => {});
  return gunzip[Symbol.asyncIterator]() as AsyncGenerator<Buffer>;
}

/** Reads until there are so many bytes, or no more; `again` has them first and then the rest. */
async function take(from: AsyncGenerator<Buffer>, length: number) {
  const chunks: Buffer[] = [];
  let taken = 0;
  while (taken < length) {
    const { done, value } = await from.next();
    if (done) break;
    chunks.push(value);
    taken += value.length;
  }
  async function* again(): AsyncGenerator<Buffer> {
    yield* chunks;
    yield* from;
  }
  return { bytes: Buffer.concat(chunks), again };
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'this is a folder, not a file',
  EACCES: 'you may not read this file',
  EPERM: 'you may not read this file',
  Z_BUF_ERROR: 'the gzip data ends too early',
  Z_DATA_ERROR: 'the gzip data is damaged',
};

function readingFault(name: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  const cause = CAUSES[String(error.code)] ?? error.message;
  return new CliFault(`cannot read ${name}: ${cause}`, 1);
}
