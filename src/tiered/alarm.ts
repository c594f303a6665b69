import { channel } from 'node:diagnostics_channel';
import type { Policy } from '../limiter.ts';

/** Told once when a tiered limiter begins to answer by its failure policy. */
export interface DegradedEvent {
  readonly policy: Policy;
  /** What the remote failed with. */
  readonly error: unknown;
}

/** Told once when the remote answers again. */
export interface RecoveredEvent {
  readonly policy: Policy;
  /** Milliseconds since the failure that began it. */
  readonly degradedMs: number;
}

export interface AlarmHandlers {
  /** Called once when the remote fails and answers begin to come from the failure policy. */
  readonly onDegraded?: (event: DegradedEvent) => void;
  /** Called once when the remote answers again. */
  readonly onRecovered?: (event: RecoveredEvent) => void;
}

// The same events for whoever watches the whole process: https://nodejs.org/api/diagnostics_channel.html
const degraded = channel('sluicegate:degraded');
const recovered = channel('sluicegate:recovered');

/** Tells people of each change between answers of the remote and answers of the failure policy, and of nothing else. */
export class Alarm {
  readonly #policy: Policy;
  readonly #handlers: AlarmHandlers;
  #since: number | undefined;

  constructor(policy: Policy, handlers: AlarmHandlers) {
    this.#policy = policy;
    this.#handlers = handlers;
  }

  onFailure(error: unknown, now: number): void {
    if (this.#since !== undefined) return;
    this.#since = now;
    const event = { policy: this.#policy, error };
    degraded.publish(event);
    tell(this.#handlers.onDegraded, event);
  }

  onSuccess(now: number): void {
    if (this.#since === undefined) return;
    const event = { policy: this.#policy, degradedMs: Math.round(now - this.#since) };
    this.#since = undefined;
    recovered.publish(event);
    tell(this.#handlers.onRecovered, event);
  }
}

/** A handler that throws must not change a decision, nor be overheard. */
function tell<T>(handler: ((event: T) => void) | undefined, event: T): void {
  try {
    handler?.(event);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
  }
}
