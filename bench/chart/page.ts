import type { Chart } from './chart.ts';
import { type ClassOf, dotPlot, escaped, isOurs } from './dot-plot.ts';

/** Told apart by most people who see few colours; each has a light and a dark tone. */
const COLOURS: readonly (readonly [string, string])[] = [
  ['#6b7280', '#9ca3af'],
  ['#b45309', '#f59e0b'],
  ['#0e7490', '#22d3ee'],
  ['#7c3aed', '#c4b5fd'],
  ['#be185d', '#f9a8d4'],
  ['#15803d', '#4ade80'],
  ['#7f1d1d', '#fca5a5'],
  ['#1e3a8a', '#93c5fd'],
  ['#4d7c0f', '#bef264'],
];
const OURS = ['#dc2626', '#f87171'] as const;

const colours = (tone: 0 | 1) =>
  [
    ...COLOURS.map((pair, i) => `.s${i} { --colour: ${pair[tone]}; }`),
    `.ours { --colour: ${OURS[tone]}; }`,
  ].join('\n');

const STYLE = `
:root { color-scheme: light dark; --page: #fff; --ink: #1f2937; --quiet: #4b5563; --grid: #e5e7eb; }
${colours(0)}
@media (prefers-color-scheme: dark) {
:root { --page: #111827; --ink: #f3f4f6; --quiet: #d1d5db; --grid: #374151; }
${colours(1)}
}
body { margin: 2rem auto; max-width: 62rem; padding: 0 1rem; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 2.5rem 0 0; }
p { margin: .3rem 0; color: var(--quiet); }
svg { width: 100%; height: auto; }
ul { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; margin: .6rem 0; padding: 0; }
li::before { content: ''; display: inline-block; width: .7rem; height: .7rem; margin-right: .4rem; border-radius: 50%; background: var(--colour); }
li.ours { font-weight: 600; } li.ours::before { border-radius: 0; transform: rotate(45deg) scale(.85); }
.label { font-size: 12px; text-anchor: end; fill: var(--ink); }
.tick { font-size: 11px; text-anchor: middle; fill: var(--quiet); }
.grid, .row { stroke: var(--grid); stroke-width: 1; }
.spread { stroke: var(--colour); stroke-width: 3; stroke-opacity: .5; }
circle, path { fill: var(--colour); stroke: var(--page); stroke-width: 1; }
`;

/** One page with all charts that have rows, which loads nothing from anywhere. */
export function chartPage(title: string, origin: string, charts: readonly Chart[]): string {
  const classOf = classes(charts);
  const parts = charts.filter(({ rows }) => rows.length > 0).map((chart) => part(chart, classOf));
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<h1>${escaped(title)}</h1>`,
    `<p>${escaped(origin)}</p>`,
    '<p>The axes are logarithmic; further left is better.</p>',
    ...parts,
    '</html>',
  ].join('\n');
}

/** A subject has one colour in all charts. */
function classes(charts: readonly Chart[]): ClassOf {
  const names = new Set(charts.flatMap(({ series }) => series).filter((name) => !isOurs(name)));
  const numbers = new Map([...names].map((name, i) => [name, `s${i}`]));
  return (name) => numbers.get(name) ?? 'ours';
}

function part(chart: Chart, classOf: ClassOf): string {
  const legend = chart.series.map((name) => `<li class="${classOf(name)}">${escaped(name)}</li>`);
  return [
    `<h2>${escaped(chart.title)}, ${escaped(chart.unit)}</h2>`,
    `<p>${escaped(chart.note)}</p>`,
    `<ul>${legend.join('')}</ul>`,
    dotPlot(chart, classOf),
  ].join('\n');
}
