import type { IncomingMessage, ServerResponse } from 'node:http';
import { pathOf, type RequestFacts } from '../http/facts.ts';
import type { Headers } from '../http/headers.ts';
import { BROKEN_OFF, type Verdict } from '../http/verdict.ts';

/** A request of Node's own, as frameworks on it extend it. */
export type NodeRequest = IncomingMessage & { originalUrl?: string };

/** Facts of a request that is Node's own or extends it. */
export class NodeFacts<Request extends NodeRequest> implements RequestFacts {
  readonly #request: Request;
  readonly #address: (request: Request) => string | undefined;

  constructor(request: Request, address: (request: Request) => string | undefined) {
    this.#request = request;
    this.#address = address;
  }

  get method(): string {
    return this.#request.method ?? 'GET';
  }

  get path(): string {
    return pathOf(this.#request.originalUrl ?? this.#request.url ?? '/');
  }

  get ip(): string | undefined {
    return this.#address(this.#request);
  }

  header(name: string): string | undefined {
    return headerOf(this.#request, name);
  }
}

export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

export function setHeaders(response: ServerResponse, headers: Headers): void {
  for (const name in headers) response.setHeader(name, headers[name] as string);
}

/** Puts the verdict on the response. True if the handler's turn has come. */
export function applyVerdict(
  request: IncomingMessage,
  response: ServerResponse,
  verdict: Verdict,
): boolean {
  const { allowed, status, headers, body, settle } = verdict;
  if (settle !== undefined) whenDone(request, response, settle);
  if (!response.headersSent) setHeaders(response, headers);
  if (allowed) return true;
  if (response.headersSent) return false;
  response.statusCode = status;
  response.end(body);
  return false;
}

const PENDING = Symbol('sluicegate.pending');

type Socket = IncomingMessage['socket'] & { [PENDING]?: Set<() => void> };

/**
 * Calls back once: with the response's status when it is done, with 499 when the connection broke off before.
 * A response that still waits behind others on its connection is not told of the break, so one listener on the socket
 * watches for all of them.
 */
export function whenDone(
  { socket }: { readonly socket: Socket },
  response: ServerResponse,
  settle: (status: number) => void,
): void {
  if (response.closed || response.destroyed || socket.destroyed) {
    settle(response.writableFinished ? response.statusCode : BROKEN_OFF);
    return;
  }
  const pending = pendingOn(socket);
  const broken = () => settle(BROKEN_OFF);
  pending.add(broken);
  response.once('close', () => {
    pending.delete(broken);
    settle(response.writableFinished ? response.statusCode : BROKEN_OFF);
  });
}

function pendingOn(socket: Socket): Set<() => void> {
  const found = socket[PENDING];
  if (found !== undefined) return found;
  const pending = new Set<() => void>();
  socket[PENDING] = pending;
  socket.once('close', () => {
    for (const broken of pending) broken();
    pending.clear();
  });
  return pending;
}
