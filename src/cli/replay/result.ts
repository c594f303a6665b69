import type { Algorithm } from '../../replay/judges.ts';
import type { Candidate } from '../../replay/suggest.ts';

/** Lines left out: how many, and the first of them. */
export interface SkippedLines {
  readonly count: number;
  readonly lines: readonly string[];
}

export interface ClientRow {
  readonly client: string;
  readonly requests: number;
  readonly denied: number;
}

export interface GroupRow {
  readonly group: string;
  readonly requests: number;
  readonly denied: number;
}

/** One limit under one algorithm. */
export interface ResultRow {
  readonly limit: string;
  readonly permits: number;
  readonly windowMs: number;
  readonly algorithm: Algorithm;
  readonly requests: number;
  readonly clients: number;
  readonly admitted: number;
  readonly denied: number;
  readonly clientsEverDenied: number;
  readonly longestWaitMs: number;
  readonly neverPass: number;
  readonly worstWindow: number;
  readonly worstWindowRatio: number;
  /** Null where nobody knows. */
  readonly memoryBytes: number | null;
  readonly decisionsPerSecond: number;
  readonly overflowed: number;
  readonly mostDenied: readonly ClientRow[];
  readonly groups: readonly GroupRow[];
}

/** The smallest limits that keep a promise; null where even the largest limit tried breaks it. */
export interface Suggestion {
  readonly windowMs: number;
  readonly algorithm: Algorithm;
  readonly percent: number;
  readonly ofRequests: Candidate | null;
  readonly ofClients: Candidate | null;
  readonly tried: readonly Candidate[];
}

/** Clients by their number of requests: bin i holds those with `from[i]` or more, below `from[i + 1]`. */
export interface Distribution {
  readonly from: readonly number[];
  readonly clients: readonly number[];
  /** For each result, the clients of the bin that were ever denied. */
  readonly clientsDenied: readonly (readonly number[])[];
}

/** Everything a replay found out: what `--json` prints, and what the report shows. */
export interface ReplayResult {
  /** Where the limiters ran: in this process, or in Redis, as they are shipped for it. */
  readonly decidedIn: 'process' | 'redis';
  readonly files: readonly string[];
  readonly lines: number;
  readonly seconds: number;
  readonly linesPerSecond: number;
  readonly requests: number;
  readonly clients: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly skipped: {
    readonly broken: SkippedLines;
    readonly outOfOrder: SkippedLines;
    readonly withoutKey: SkippedLines;
  };
  readonly results: readonly ResultRow[];
  readonly timeline: {
    readonly startMs: number;
    readonly widthMs: number;
    readonly requests: readonly number[];
    /** For each result. */
    readonly denied: readonly (readonly number[])[];
  };
  readonly distribution: Distribution;
  readonly suggestions: readonly Suggestion[];
}
