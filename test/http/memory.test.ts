import { Agent } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { TokenBucketLimiter } from '../../src/local/token-bucket-limiter.ts';
import { ask } from './support/client.ts';
import type { Running } from './support/subject.ts';
import { subjects } from './support/subjects.ts';

const REQUESTS = 10_000;
const CONNECTIONS = 20;
const MIB = 2 ** 20;

async function drive(port: number, agent: Agent, count: number): Promise<void> {
  let left = count;
  const client = async () => {
    while (left-- > 0) await ask(port, left % 2 ? '/hello' : '/teapot', { agent });
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
}

function heap(): number {
  global.gc?.();
  global.gc?.();
  return process.memoryUsage().heapUsed;
}

// Connect and polka have Express's adapter.
const measured = subjects.filter(({ name }) => name !== 'connect' && name !== 'polka');

describe.each(measured)('$name', (subject) => {
  let running: Running | undefined;
  afterEach(() => running?.close());

  it(`keeps nothing of ${REQUESTS} requests with refunds`, async () => {
    const limiter = new TokenBucketLimiter({ capacity: 1000, refillPerSecond: 1 });
    running = await subject.start({ mounts: [{ limiter, refund: 'failed' }] });
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const warnings: Error[] = [];
    const listen = (warning: Error) => warnings.push(warning);
    process.on('warning', listen);
    await drive(running.port, agent, 1000);
    const before = heap();
    await drive(running.port, agent, REQUESTS);
    const grown = heap() - before;
    process.off('warning', listen);
    agent.destroy();
    expect(grown).toBeLessThan(1.5 * MIB);
    expect(warnings.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([]);
  });
});
