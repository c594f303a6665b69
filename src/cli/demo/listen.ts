import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CliFault } from '../fault.ts';

export const HOST = '127.0.0.1';
const FIRST_PORT = 3000;
const LAST_PORT = 3099;

/** Listens on the port wanted, or on the first free one from 3000; returns it. Never on another than was wanted. */
export async function listen(server: Server, wanted?: number): Promise<number> {
  for (let port = wanted ?? FIRST_PORT; ; port++) {
    try {
      server.listen(port, HOST);
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    } catch (error) {
      const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      if (!taken || wanted !== undefined || port === LAST_PORT) throw listenFault(error, wanted);
    }
  }
}

function listenFault(error: unknown, wanted: number | undefined): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const cure = 'choose another with PORT=N or --port N';
  if (code === 'EADDRINUSE') {
    const ports =
      wanted === undefined ? `ports ${FIRST_PORT} to ${LAST_PORT} are` : `port ${wanted} is`;
    return new CliFault(`${ports} in use; ${cure}`, 1);
  }
  if (code === 'EACCES') return new CliFault(`port ${wanted} needs rights we lack; ${cure}`, 1);
  return error;
}
