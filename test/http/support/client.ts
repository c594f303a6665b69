import { type Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly agent?: Agent;
}

/** One request over a real socket, by default a fresh one. */
export function ask(port: number, path = '/hello', options: Ask = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body, agent } = options;
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, method, headers, agent: agent ?? false },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('error', reject);
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The statuses of so many requests, one after the other. */
export async function statuses(
  port: number,
  count: number,
  path?: string,
  options?: Ask,
): Promise<number[]> {
  const seen: number[] = [];
  for (let i = 0; i < count; i++) seen.push((await ask(port, path, options)).status);
  return seen;
}

/** Writes to a socket and gives all that comes back until the other side closes. */
export function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let seen = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      seen += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(seen));
  });
}

export function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
  });
}

/** Comes back once the condition holds; looks after every turn of the event loop. */
export async function until(condition: () => boolean): Promise<void> {
  const giveUp = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > giveUp) throw new Error(`never became true: ${condition}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
