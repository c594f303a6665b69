import { RedisModel } from '../model/redis-scripts.ts';
import { policyOf, type Setting } from './settings.ts';

/** Permits that somebody asked for, and when. */
export interface Wish {
  readonly us: number;
  readonly key: string;
  readonly cost: number;
}

/** Permits that one limiter admits to whom the calls come at once, and on whose clock their first moment is `startUs`. */
export function idealOf(setting: Setting, wishes: readonly Wish[], startUs: number): number {
  const { algorithm } = setting;
  const policy = policyOf(setting);
  const model = new RedisModel();
  let admitted = 0;
  for (const { us, key, cost } of wishes) {
    const args = [Infinity, '', ...policy, 'acquire', cost];
    const [, allowed] = model.run({ algorithm, form: 'one', keys: [key], args }, startUs + us);
    if (allowed === 1) admitted += cost;
  }
  return admitted;
}
