import type { ReplayResult, ResultRow, SkippedLines, Suggestion } from './result.ts';

const IN_REDIS =
  "decided in Redis, as shipped for it; a fixed window begins with a client's first permit";

/** The whole result as text. */
export function tables(result: ReplayResult): string {
  const limits = [...new Set(result.results.map(({ limit }) => limit))];
  const blocks = limits.map((limit) =>
    limitBlock(result.results.filter((row) => row.limit === limit)),
  );
  const suggestions = suggestionBlock(result.suggestions);
  return [summary(result), ...blocks, ...suggestions].join('\n\n');
}

export function number(value: number): string {
  return value.toLocaleString('en');
}

export function percent(part: number, whole: number): string {
  if (part === 0) return '0 %';
  const share = (100 * part) / whole;
  return `${share < 0.01 ? '< 0.01' : share.toFixed(share < 10 ? 2 : 1)} %`;
}

/** `850 ms`, `12.5 s`, `3.2 min`, `1.5 h`, `2 d`. */
export function duration(ms: number): string {
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1_000],
  ] as const;
  const [unit, size] = units.find(([, size]) => ms >= 2 * size || ms === size) ?? ['ms', 1];
  return `${Number((ms / size).toFixed(1))} ${unit}`;
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  if (count < 1024 ** 2) return `${(count / 1024).toFixed(1)} KiB`;
  return `${(count / 1024 ** 2).toFixed(1)} MiB`;
}

function summary(result: ReplayResult): string {
  const { files, requests, clients, fromMs, toMs } = result;
  const from = new Date(fromMs).toISOString();
  const to = new Date(toMs).toISOString();
  const lines = [
    `${files.join(', ')}: ${number(requests)} requests of ${number(clients)} clients, ${from} to ${to}`,
    ...skippedLines(result.skipped),
    ...(result.decidedIn === 'redis' ? [IN_REDIS] : []),
  ];
  return lines.join('\n');
}

/** One line for each reason that left lines out. */
export function skippedLines(skipped: ReplayResult['skipped']): string[] {
  const reasons: [string, SkippedLines][] = [
    ['broken', skipped.broken],
    ['out of order', skipped.outOfOrder],
    ['without a key', skipped.withoutKey],
  ];
  return reasons
    .filter(([, { count }]) => count > 0)
    .map(([reason, { count, lines }]) => {
      const more = count > lines.length ? ', ...' : '';
      return `skipped ${number(count)} ${count === 1 ? 'line' : 'lines'} ${reason}: ${lines.join(', ')}${more}`;
    });
}

function limitBlock(rows: readonly ResultRow[]): string {
  const [first] = rows as readonly [ResultRow];
  const head = [
    ['algorithm', 'requests', 'clients', 'admitted', 'denied', ''],
    ['clients denied', '', 'longest wait', 'worst window', 'memory', 'decisions/s'],
  ].flat();
  const body = rows.map((row) => [
    row.algorithm,
    number(row.requests),
    number(row.clients),
    number(row.admitted),
    number(row.denied),
    percent(row.denied, row.requests),
    number(row.clientsEverDenied),
    percent(row.clientsEverDenied, row.clients),
    row.longestWaitMs === 0 && row.neverPass > 0 ? 'never' : duration(row.longestWaitMs),
    `${row.worstWindowRatio.toFixed(2)} x`,
    row.memoryBytes === null ? '-' : bytes(row.memoryBytes),
    number(row.decisionsPerSecond),
  ]);
  const notes = rows.flatMap(notesOf);
  return [
    `Limit ${first.limit}`,
    aligned([head, ...body]),
    ...notes,
    ...rows.flatMap(mostDenied),
    ...rows.flatMap(groups),
  ].join('\n');
}

function notesOf({ algorithm, limit, neverPass, overflowed }: ResultRow): string[] {
  const notes: string[] = [];
  if (neverPass > 0) {
    notes.push(
      `${algorithm}: ${number(neverPass)} requests cost more than ${limit} and never pass`,
    );
  }
  if (overflowed > 0) {
    notes.push(
      `${algorithm}: ${number(overflowed)} decisions found the table full and shared a state; raise --max-keys`,
    );
  }
  return notes;
}

function mostDenied({ algorithm, mostDenied }: ResultRow): string[] {
  if (mostDenied.length === 0) return [];
  const rows = mostDenied.map(({ client, requests, denied }) => [
    printable(client),
    number(requests),
    number(denied),
    percent(denied, requests),
  ]);
  return [
    '',
    `Most denied by ${algorithm}`,
    aligned([['client', 'requests', 'denied', ''], ...rows]),
  ];
}

function groups({ algorithm, groups }: ResultRow): string[] {
  if (groups.length === 0) return [];
  const rows = groups.map(({ group, requests, denied }) => [
    printable(group),
    number(requests),
    number(denied),
    percent(denied, requests),
  ]);
  return ['', `Groups, ${algorithm}`, aligned([['group', 'requests', 'denied', ''], ...rows])];
}

function suggestionBlock(suggestions: readonly Suggestion[]): string[] {
  const [first] = suggestions;
  if (first === undefined) return [];
  const cell = (limit: number | undefined, windowMs: number) =>
    limit === undefined ? 'none found' : `${number(limit)} / ${duration(windowMs)}`;
  const rows = suggestions.map(({ algorithm, windowMs, ofRequests, ofClients }) => [
    algorithm,
    duration(windowMs),
    cell(ofRequests?.limit, windowMs),
    cell(ofClients?.limit, windowMs),
  ]);
  const head = ['algorithm', 'window', 'of requests', 'of clients'];
  return [`Smallest limit that denies at most ${first.percent} %\n${aligned([head, ...rows])}`];
}

/** Names come out of a log, where anybody may have put them: nothing in them may steer the terminal. */
function printable(text: string): string {
  const clean = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');
  return clean.length > 60 ? `${clean.slice(0, 59)}…` : clean;
}

/** Columns side by side, the first to the left and the rest to the right. */
function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] as number;
          return column === 0 ? cell.padEnd(width) : cell.padStart(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `  ${line}`)
    .join('\n');
}
