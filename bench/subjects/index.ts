import type { Create } from './subject.ts';

// A new rival is a file beside this one that exports `create`, an entry here, and its name in RIVALS.

interface Entry {
  readonly title: string;
  /** Loaded only in the process that measures it: subjects share no memory, no call sites and no garbage. */
  readonly load: () => Promise<{ readonly create: Create }>;
}

const ENTRIES = {
  base: { title: 'no limiter', load: () => import('./base.ts') },
  map: { title: 'Map', load: () => import('./map.ts') },
  sluicegate: { title: 'Sluicegate', load: () => import('./sluicegate.ts') },
  dist: { title: 'Sluicegate, built', load: () => import('./dist.ts') },
} as const satisfies Record<string, Entry>;

export type SubjectName = keyof typeof ENTRIES;

/** What we are compared with. */
export const RIVALS = ['map'] as const satisfies readonly SubjectName[];
/** What is compared, in the report's order. */
export const SUBJECTS = [...RIVALS, 'sluicegate'] as const satisfies readonly SubjectName[];

export function titleOf(name: SubjectName): string {
  return ENTRIES[name].title;
}

export async function loadSubject(name: SubjectName): Promise<Create> {
  const { create } = await ENTRIES[name].load();
  return create;
}
