import { type Awaitable, isPromise, type RequestFacts } from './facts.ts';
import type { FailurePolicy, HttpOptions } from './options.ts';

/** Where errors go: to the app's `onError`, else to a process warning; and what becomes of the request. */
export class FaultDesk<Request> {
  readonly #onError: HttpOptions<Request>['onError'];
  readonly #enforce: boolean;
  readonly #warned = new Set<string>();

  constructor(onError: HttpOptions<Request>['onError'], enforce: boolean) {
    this.#onError = onError;
    this.#enforce = enforce;
  }

  /** `misuse` is a fault of the app's own functions, which fails closed unless the app said open. */
  policy(error: unknown, misuse: boolean, request: Request, facts: RequestFacts): FailurePolicy {
    const chosen = this.report(error, request, facts) ?? (misuse ? 'closed' : 'open');
    return this.#enforce ? chosen : 'open';
  }

  /** Tells the app, which may answer with a failure policy. */
  report(error: unknown, request: Request, facts: RequestFacts): FailurePolicy | undefined {
    const onError = this.#onError;
    if (typeof onError !== 'function') {
      this.#warn(error);
      return onError;
    }
    try {
      const chosen = onError(error, request, facts);
      return chosen === 'open' || chosen === 'closed' ? chosen : undefined;
    } catch (thrown) {
      this.#warn(thrown);
      return undefined;
    }
  }

  /** Runs what must not change the verdict; what it throws, now or later, is reported. */
  guarded<Result>(
    run: () => Awaitable<Result>,
    request: Request,
    facts: RequestFacts,
  ): Awaitable<Result | undefined> {
    const failed = (error: unknown): undefined => {
      this.report(error, request, facts);
    };
    try {
      const result = run();
      return isPromise(result) ? result.then(undefined, failed) : result;
    } catch (error) {
      return failed(error);
    }
  }

  /** Once for each kind of error, or an outage would fill the log. */
  #warn(error: unknown): void {
    const warning = error instanceof Error ? error : new Error(String(error));
    const code = `${(warning as { code?: unknown }).code ?? warning.name}`;
    if (this.#warned.has(code)) return;
    this.#warned.add(code);
    process.emitWarning(`sluicegate: ${warning.message}`, {
      type: 'SluicegateWarning',
      code,
      detail: warning.stack ?? '',
    });
  }
}
