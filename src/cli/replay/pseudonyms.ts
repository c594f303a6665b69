import { createHmac, randomBytes } from 'node:crypto';
import type { Field, Fields } from './fields.ts';
import type { ReplayResult } from './result.ts';

/** Groups by these name nobody. */
const IMPERSONAL: readonly Field['kind'][] = ['method', 'path', 'status', 'bytes'];

/**
 * The result with invented names for clients, and for groups that may be people. The names are a keyed hash whose key
 * is random and forgotten with this process: nobody can turn them back, and the next run has others.
 */
export function hideNames(result: ReplayResult, { group }: Fields): ReplayResult {
  const key = randomBytes(32);
  const invented = (kind: string, name: string) => {
    const digest = createHmac('sha256', key).update(name).digest('hex');
    return `${kind}-${digest.slice(0, 10)}`;
  };
  const hidesGroups = group !== undefined && !IMPERSONAL.includes(group.kind);
  return {
    ...result,
    results: result.results.map((row) => ({
      ...row,
      mostDenied: row.mostDenied.map((one) => ({ ...one, client: invented('client', one.client) })),
      groups: hidesGroups
        ? row.groups.map((one) => ({ ...one, group: invented('group', one.group) }))
        : row.groups,
    })),
  };
}
