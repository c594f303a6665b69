// The package ships no types; these are of what the benchmark uses.
declare module 'fast-ratelimit' {
  export class FastRateLimit {
    constructor(options: { readonly threshold: number; readonly ttl: number });
    consumeSync(key: string): boolean;
  }
}
