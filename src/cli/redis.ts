import { usageFault } from './fault.ts';

/** Checks the address given with `--redis`. */
export function redisAddress(text: string): string {
  if (/^rediss?:\/\/./.test(text)) return text;
  throw usageFault(`--redis must be an address like redis://127.0.0.1:6379; got '${text}'`);
}

/** Who does not use Redis need not have its client. */
export async function importIoredis() {
  try {
    return await import('ioredis');
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw usageFault('--redis needs the package ioredis: npm install ioredis');
  }
}
