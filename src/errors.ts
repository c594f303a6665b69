/** What is wrong, for programs. Stable between releases. */
export type ErrorCode =
  | 'ERR_INVALID_OPTION'
  | 'ERR_UNKNOWN_OPTION'
  | 'ERR_INVALID_KEY'
  | 'ERR_INVALID_COST'
  | 'ERR_INVALID_OUT'
  | 'ERR_INVALID_CLOCK'
  | 'ERR_INVALID_HANDLE'
  | 'ERR_NOT_SHARED'
  | 'ERR_OUT_OF_MEMORY'
  | 'ERR_CLOSED'
  | 'ERR_LIMITER_UNAVAILABLE'
  | 'ERR_RATE_LIMITED';

/** A number outside its range. The message names the option or argument, the value seen and the cure. */
export class SluicegateRangeError extends RangeError {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = 'SluicegateRangeError';
    this.code = code;
  }
}

/** A value of the wrong kind. The message names the option or argument, the value seen and the cure. */
export class SluicegateTypeError extends TypeError {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = 'SluicegateTypeError';
    this.code = code;
  }
}

/** A call on a limiter that was closed. */
export class LimiterClosedError extends Error {
  readonly code: ErrorCode = 'ERR_CLOSED';

  constructor(name: string) {
    super(`the limiter "${name}" is closed; make a new one, or close it after its last call`);
    this.name = 'LimiterClosedError';
  }
}

/**
 * A limiter across machines that could not decide: its server was not reached, did not answer in time, or failed.
 * Nothing is known about the key, so this is no denial. `cause` is the client's or the server's error, where there is one.
 */
export class LimiterUnavailableError extends Error {
  readonly code: ErrorCode = 'ERR_LIMITER_UNAVAILABLE';

  constructor(name: string, reason: string, cause?: unknown) {
    super(
      `the limiter "${name}" is unavailable: ${reason}; a TieredLimiter around it decides what happens then`,
      cause === undefined ? undefined : { cause },
    );
    this.name = 'LimiterUnavailableError';
  }
}
