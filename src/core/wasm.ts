import { SluicegateRangeError } from '../errors.ts';

/** A module from its base64 text, which is how the build puts it into JavaScript. */
export function compile(base64: string, options?: WebAssembly.CompileOptions): WebAssembly.Module {
  return new WebAssembly.Module(
    Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0)),
    options,
  );
}

/** A new memory; `purpose` says what for, in the error where the system gives none. */
export function newMemory(
  descriptor: { initial: number; maximum?: number; shared?: boolean },
  purpose: string,
): WebAssembly.Memory {
  try {
    return new WebAssembly.Memory(descriptor);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw outOfMemory(purpose);
  }
}

/** The error where the system gives no memory. */
export function outOfMemory(purpose: string): SluicegateRangeError {
  return new SluicegateRangeError(
    'ERR_OUT_OF_MEMORY',
    `the system gives no memory for ${purpose}; take fewer keys, close other limiters, or allow the process more ` +
      'address space (each WebAssembly memory reserves about 10 GB of it, see ulimit -v)',
  );
}
