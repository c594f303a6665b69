/** Who decides, seen from a thread that asks. */
export type Subject =
  /** Nobody: the key comes, the clock is read. What the machine has for two threads that share nothing. */
  | 'base'
  /** Sluicegate's private table, in the one thread there is. */
  | 'private'
  /** The shared one, in the one thread there is. */
  | 'alone'
  /** The shared one, attached to by every worker thread. */
  | 'shared'
  /** A private one in the main thread, which worker threads ask by postMessage, one question after the other. */
  | 'postMessage'
  /** The same with many questions on their way at once. */
  | 'queued'
  /** rate-limiter-flexible's cluster limiter in the primary process, which worker processes ask by IPC. */
  | 'cluster';

/** What is measured together. */
export interface Case {
  readonly subject: Subject;
  readonly workers: number;
  /** In all. */
  readonly keys: number;
  /** Whether each worker has its own part of them. */
  readonly own: boolean;
}

/** One measurement, in a process of its own. */
export interface ThreadsJob extends Case {
  readonly samples: number;
  readonly sampleMs: number;
}

/** Decisions a second: one list a sample, one number a worker. */
export interface ThreadsResult {
  readonly samples: readonly (readonly number[])[];
}

/** Which keys a worker calls. */
export interface Arriving {
  readonly keys: number;
  readonly own: boolean;
  /** The worker's number. */
  readonly share: number;
  readonly shares: number;
}

/** What a worker is made from. */
export interface WorkerSetup extends Arriving {
  readonly subject: Subject;
  /** Permits of a key. */
  readonly capacity: number;
  /** Only `shared`: the limiter's handle. */
  readonly handle?: unknown;
}

/** What a worker is told to do, one after the other. */
export type Order =
  /** To call without a break for so long. */
  | { readonly order: 'run'; readonly ms: number }
  /** To call one key so often. */
  | { readonly order: 'check'; readonly calls: number };

/** What it says after each. */
export interface Report {
  readonly calls: number;
  readonly allowed: number;
  readonly ms: number;
}

/** Never spent while we measure. The largest for which a permit a second is exact, about. */
export const PLENTY = 1e12;

/** Questions that a worker has on their way at once. */
export const IN_FLIGHT: Partial<Record<Subject, number>> = {
  postMessage: 1,
  queued: 32,
  cluster: 32,
};
