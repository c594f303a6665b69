/** A clock that moves on by the same step before each call, so that no time is spent on reading a real one. */
export interface TickingClock {
  readonly now: () => number;
  readonly tick: () => void;
}

/** Steps that are powers of two add up without rounding. Starts at one step, since subjects read it when made. */
export function tickingClock(stepMs: number): TickingClock {
  // In a typed array, since V8 may make a new object for each number stored in a variable.
  const time = new Float64Array([stepMs]);
  return {
    now: () => time[0] as number,
    tick: () => {
      time[0] = (time[0] as number) + stepMs;
    },
  };
}
