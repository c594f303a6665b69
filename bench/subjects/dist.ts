import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DIST } from '../processes.ts';
import type { Create } from './subject.ts';

const folder = process.env[DIST];
if (folder === undefined) throw new Error(`the variable ${DIST} must name a dist folder`);

const { TokenBucketLimiter }: typeof import('../../src/index.ts') = await import(
  pathToFileURL(resolve(folder, 'index.js')).href
);

export const create: Create = ({ keys, capacity, refillIntervalMs, clock }) =>
  new TokenBucketLimiter({ capacity, refillTokens: 1, refillIntervalMs, maxKeys: keys, clock });
