import type { Chart, ChartRow } from './chart.ts';

const WIDTH = 960;
const LEFT = 310;
const RIGHT = 30;
const ROW_HEIGHT = 26;
const TOP = 34;
const DOT_RADIUS = 5;
const STEPS = [1, 2, 5];
/** Where more would not fit, there is one a decade. */
const MOST_TICKS = 12;

/** The class that gives a series its colour. */
export type ClassOf = (name: string) => string;

/** Draws a chart as SVG. Colours are the page's. */
export function dotPlot({ series, unit, rows, title }: Chart, classOf: ClassOf): string {
  const values = rows.flatMap(({ dots }) => dots.map(({ median }) => median)).filter(isDrawable);
  const ticks = ticksAround(Math.min(...values), Math.max(...values));
  const [low, high] = [Math.log(ticks[0] as number), Math.log(ticks.at(-1) as number)];
  const x = (value: number) => {
    const share = (Math.log(value) - low) / (high - low);
    return round(LEFT + Math.min(1, Math.max(0, share)) * (WIDTH - LEFT - RIGHT));
  };
  const height = TOP + rows.length * ROW_HEIGHT + 8;
  const grid = ticks.map((tick) => gridLine(x(tick), height, tick));
  const lines = rows.map((row, i) => {
    const y = TOP + (i + 0.5) * ROW_HEIGHT;
    return drawLabel(row, y) + drawDots(row, y, { series, unit, x, classOf });
  });
  return [
    `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}, ${escaped(unit)}">`,
    ...grid,
    ...lines,
    '</svg>',
  ].join('\n');
}

interface Drawing extends Pick<Chart, 'series' | 'unit'> {
  readonly x: (value: number) => number;
  readonly classOf: ClassOf;
}

function drawLabel({ label }: ChartRow, y: number): string {
  const line = `<line class="row" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}"/>`;
  return `${line}<text class="label" x="${LEFT - 12}" y="${y + 4}">${escaped(label)}</text>`;
}

function drawDots({ dots }: ChartRow, y: number, { series, unit, x, classOf }: Drawing): string {
  const marks = dots.map(({ median, lowerQuartile, upperQuartile }, i) => {
    if (!isDrawable(median)) return '';
    const name = series[i] as string;
    const told = `<title>${escaped(name)}: ${shown(median)} ${escaped(unit)}</title>`;
    const [from, to] = [x(Math.max(lowerQuartile, Number.MIN_VALUE)), x(upperQuartile)];
    const spread = `<line class="spread" x1="${from}" x2="${to}" y1="${y}" y2="${y}"/>`;
    return `<g class="${classOf(name)}">${told}${spread}${mark(name, x(median), y)}</g>`;
  });
  return marks.join('');
}

/** Ours is a diamond, so that it is found without its colour too. */
function mark(name: string, x: number, y: number): string {
  if (!isOurs(name)) return `<circle cx="${x}" cy="${y}" r="${DOT_RADIUS}"/>`;
  const reach = DOT_RADIUS + 2;
  return `<path d="M${round(x - reach)} ${y}l${reach} ${-reach}l${reach} ${reach}l${-reach} ${reach}z"/>`;
}

function gridLine(x: number, height: number, tick: number): string {
  return (
    `<line class="grid" x1="${x}" x2="${x}" y1="${TOP - 8}" y2="${height}"/>` +
    `<text class="tick" x="${x}" y="${TOP - 16}">${shown(tick)}</text>`
  );
}

/** Round numbers from the last one below the least value to the first one above the greatest. */
function ticksAround(least: number, most: number): number[] {
  const decades = Array.from({ length: 24 }, (_, i) => 10 ** (i - 8));
  const all = decades.flatMap((decade) => STEPS.map((step) => step * decade));
  const around = (ticks: readonly number[]) => {
    const first = ticks.findLastIndex((tick) => tick <= least);
    return ticks.slice(Math.max(0, first), ticks.findIndex((tick) => tick >= most) + 1);
  };
  const ticks = around(all);
  return ticks.length <= MOST_TICKS ? ticks : around(decades);
}

function isDrawable(value: number): boolean {
  return Number.isFinite(value) && value > 0;
}

/** Ours look the same in every chart. */
export function isOurs(name: string): boolean {
  return name.startsWith('Sluicegate');
}

function shown(value: number): string {
  return value < 10 ? `${Number(value.toPrecision(2))}` : Math.round(value).toLocaleString('en-US');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
