import type { AnyContestant, Contestant, Create, Package, PromisedPackage } from './subject.ts';

// A new rival is a file beside this one that exports `create`, and an entry here.

interface Entry<C extends AnyContestant> {
  readonly title: string;
  /** Loaded only in the process that measures it: subjects share no memory, no call sites and no garbage. */
  readonly load: () => Promise<{ readonly create: Create<C> }>;
}

/** Subjects that take the clock they are given: what a call costs without reading a real one. */
const SUBJECT_ENTRIES = {
  base: { title: 'no limiter', load: () => import('./base.ts') },
  map: { title: 'Map', load: () => import('./map.ts') },
  arrays: { title: 'typed arrays', load: () => import('./arrays.ts') },
  sluicegate: { title: 'Sluicegate', load: () => import('./sluicegate.ts') },
  dist: { title: 'Sluicegate, built', load: () => import('./dist.ts') },
} as const satisfies Record<string, Entry<Contestant>>;

interface PackageEntry extends Entry<Package | PromisedPackage> {
  readonly algorithm: string;
  /** Whether there is a promise in each of its figures. */
  readonly promise: boolean;
}

/** Packages as their users use them, each with its own clock; ours among them. */
const PACKAGE_ENTRIES = {
  flexible: {
    title: 'rate-limiter-flexible',
    algorithm: 'fixed window',
    promise: true,
    load: () => import('./rate-limiter-flexible.ts'),
  },
  express: {
    title: 'express-rate-limit',
    algorithm: 'fixed window',
    promise: true,
    load: () => import('./express-rate-limit.ts'),
  },
  hitlimit: {
    title: '@joint-ops/hitlimit',
    algorithm: 'fixed window',
    promise: false,
    load: () => import('./hitlimit.ts'),
  },
  fast: {
    title: 'fast-ratelimit',
    algorithm: 'fixed window, a timer a key',
    promise: false,
    load: () => import('./fast-ratelimit.ts'),
  },
  limiter: {
    title: 'limiter',
    algorithm: 'token bucket',
    promise: false,
    load: () => import('./limiter.ts'),
  },
  ours: {
    title: 'Sluicegate, own clock',
    algorithm: 'token bucket',
    promise: false,
    load: () => import('./sluicegate-own-clock.ts'),
  },
} as const satisfies Record<string, PackageEntry>;

export type SubjectName = keyof typeof SUBJECT_ENTRIES;
export type PackageName = keyof typeof PACKAGE_ENTRIES;
export type AnyName = SubjectName | PackageName;

/** Pure JavaScript that we are compared with. */
export const RIVALS = ['map', 'arrays'] as const satisfies readonly SubjectName[];
/** What is compared, in the report's order. */
export const SUBJECTS = [...RIVALS, 'sluicegate'] as const satisfies readonly SubjectName[];
/** Packages of others. */
export const OTHERS = [
  'flexible',
  'express',
  'hitlimit',
  'fast',
  'limiter',
] as const satisfies readonly PackageName[];
export const PACKAGES = [...OTHERS, 'ours'] as const satisfies readonly PackageName[];

const ENTRIES = { ...SUBJECT_ENTRIES, ...PACKAGE_ENTRIES };

/** Whether it reads a clock of its own. */
export function isPackage(name: AnyName): name is PackageName {
  return name in PACKAGE_ENTRIES;
}

export function titleOf(name: AnyName): string {
  return ENTRIES[name].title;
}

/** How a package counts, and whether its figures include a promise. */
export function describePackage(name: PackageName): string {
  const { title, algorithm, promise } = PACKAGE_ENTRIES[name];
  return `${title} (${algorithm}${promise ? ', promise' : ''})`;
}

export async function loadSubject(name: SubjectName): Promise<Create> {
  const { create } = await SUBJECT_ENTRIES[name].load();
  return create;
}

/** One of either kind, for measurements that need no more than a yes or no. */
export async function loadAny(name: AnyName): Promise<Create<AnyContestant>> {
  const { create } = await ENTRIES[name].load();
  return create;
}
