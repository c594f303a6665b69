import type { FastifyRequest } from 'fastify';
import { pathOf, type RequestFacts } from '../http/facts.ts';
import { headerOf } from './node-http.ts';

/** Facts of a request of Fastify's. */
export class FastifyFacts implements RequestFacts {
  readonly #request: FastifyRequest;

  constructor(request: FastifyRequest) {
    this.#request = request;
  }

  get method(): string {
    return this.#request.method;
  }

  get path(): string {
    return pathOf(this.#request.originalUrl);
  }

  get ip(): string | undefined {
    return this.#request.ip;
  }

  header(name: string): string | undefined {
    return headerOf(this.#request.raw, name);
  }
}
