// A worker thread, or a worker process of the cluster, that asks as it is told.
import { parentPort, workerData } from 'node:worker_threads';
import { monotonicClock } from '../../src/clock.ts';
import { attach, type LimiterHandle } from '../../src/index.ts';
import { type Ask, follow, keysOf } from './asking.ts';
import { IN_FLIGHT, type Order, type WorkerSetup } from './job.ts';

type Message = Partial<Order> & { readonly answer?: number; readonly allowed?: boolean };

const setup: WorkerSetup = workerData ?? JSON.parse(process.argv[2] as string);

function listen(listener: (message: Message) => void): void {
  (parentPort ?? process).on('message', listener);
}

function say(message: object): void {
  if (parentPort) parentPort.postMessage(message);
  else process.send?.(message);
}

/** Questions by number, one message each way. */
function byMessage(): Ask {
  const waiting = new Map<number, (allowed: boolean) => void>();
  let asked = 0;
  listen(({ answer, allowed }) => {
    if (answer === undefined) return;
    waiting.get(answer)?.(allowed === true);
    waiting.delete(answer);
  });
  const later = (key: string) =>
    new Promise<boolean>((resolve) => {
      waiting.set(++asked, resolve);
      say({ question: asked, key });
    });
  return { later, inFlight: IN_FLIGHT[setup.subject] ?? 1 };
}

async function byCluster({ capacity }: WorkerSetup): Promise<Ask> {
  const { RateLimiterCluster } = await import('rate-limiter-flexible');
  const policy = { points: capacity, duration: 3_600, timeoutMs: 30_000 };
  const limiter = new RateLimiterCluster({ keyPrefix: `bench-${capacity}`, ...policy });
  const later = (key: string) =>
    limiter.consume(key).then(
      () => true,
      (denial) => {
        if (denial instanceof Error) throw denial;
        return false;
      },
    );
  return { later, inFlight: IN_FLIGHT[setup.subject] ?? 1 };
}

async function asker(): Promise<Ask> {
  if (setup.subject === 'base') return { now: (key) => key.length > 0 && monotonicClock() > 0 };
  if (setup.subject === 'postMessage' || setup.subject === 'queued') return byMessage();
  if (setup.subject === 'cluster') return await byCluster(setup);
  const limiter = attach(setup.handle as LimiterHandle);
  return { now: (key) => limiter.isAllowed(key) };
}

const ask = await asker();
const keys = keysOf(setup);
listen(async (message) => {
  if (message.order === undefined) return;
  say({ report: await follow(message as Order, ask, keys) });
});
say({ report: 'ready' });
