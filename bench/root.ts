/** The repository. Compiled files lie two folders below it, in build/bench. */
export const root = new URL('../../', import.meta.url);
