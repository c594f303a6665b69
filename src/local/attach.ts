import { HANDLE_KIND, invalidHandle, openTable } from '../core/table.ts';
import { SluicegateTypeError } from '../errors.ts';
import type { Clock, LimiterHandle, LocalLimiter } from '../limiter.ts';
import { knownOptions, optionalFunction, shown } from '../options.ts';
import { joinTable, TableLimiter } from './table-limiter.ts';

/** Options of `attach`. */
export interface AttachOptions {
  /** Needed exactly when the creator brought a clock of its own: then the same time, in this thread. */
  readonly clock?: Clock;
}

/**
 * Joins a limiter made with `shared: true`, in any thread of the process, from its `handle`: the same policy, hash key
 * and counts. Every `attach` gives a limiter object of its own, to be closed on its own; the shared table lives as long
 * as any of them, or a handle, does, also when its creator is gone.
 *
 * @throws SluicegateTypeError for a handle that is none, is damaged, or is of a release with another layout, and where
 * the creator has a clock of its own and no `clock` is given.
 */
export function attach(handle: LimiterHandle, options: AttachOptions = {}): LocalLimiter {
  knownOptions(options, ['clock']);
  optionalFunction('clock', options.clock);
  if (handle?.kind !== HANDLE_KIND) throw invalidHandle(`got ${shown(handle)}`);
  const table = openTable(handle.memory);
  if (table.ownClock && options.clock === undefined) {
    throw new SluicegateTypeError(
      'ERR_INVALID_CLOCK',
      `the limiter "${table.name}" was made with a clock of its own, so its time is not this thread's; ` +
        'pass attach(handle, { clock }) the same one',
    );
  }
  return new TableLimiter(joinTable(table, options.clock));
}
