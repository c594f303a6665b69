import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const HOST = '127.0.0.1';
/** Below the ports that systems give to those who ask for any: nobody gets one of these between our look and its use. */
const FIRST = 10_000;
/** A node of a Redis cluster listens so many ports higher, too. */
const BUS_OFFSET = 10_000;

/** A port that nobody listens on, nor on the one that a cluster node would take as well. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, FIRST + BUS_OFFSET);
    if ((await isFree(port)) && (await isFree(port + BUS_OFFSET))) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, HOST);
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
