// The report's page. `data` is what `sluicegate replay --json` prints; the numbers are formatted here.
/* global uPlot */
const data = JSON.parse(document.getElementById('data').textContent);
const { result, namesAreHidden } = data;
const HEIGHT = 260;

const byId = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString('en');
const dateTime = (ms) =>
  new Date(ms).toISOString().replace('T', ' ').replace('.000Z', '').replace('Z', '');
const percent = (part, whole) => {
  if (part === 0 || whole === 0) return '0 %';
  const share = (100 * part) / whole;
  return share < 0.01 ? '< 0.01 %' : `${share.toFixed(share < 10 ? 2 : 1)} %`;
};
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
  ['ms', 1],
];
const duration = (ms) => {
  const [unit, size] = UNITS.find(([, size]) => ms >= 2 * size || ms === size) ?? ['ms', 1];
  return `${Number((ms / size).toFixed(1))} ${unit}`;
};
const bytes = (count) => {
  if (count === null) return '–';
  return count < 2 ** 20
    ? `${(count / 2 ** 10).toFixed(1)} KiB`
    : `${(count / 2 ** 20).toFixed(1)} MiB`;
};

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** A cell is a text, or [text, value] where the plain number is to be found again. */
function row(cells, cellName = 'td') {
  return element(
    'tr',
    {},
    ...cells.map((cell) => {
      const [text, value] = Array.isArray(cell) ? cell : [cell];
      const made = element(cellName, { textContent: text });
      if (cellName === 'th') made.scope = 'col';
      if (value !== undefined) made.dataset.value = value;
      return made;
    }),
  );
}

function fillTable(table, head, rows) {
  table.replaceChildren(
    element('thead', {}, row(head, 'th')),
    element('tbody', {}, ...rows.map((cells) => row(cells))),
  );
}

function showSummary() {
  const { files, requests, clients, fromMs, toMs, skipped } = result;
  byId('files').textContent = files.join(', ');
  if (result.decidedIn === 'redis') byId('decided').hidden = false;
  document.title = `Replay of ${files.join(', ')}`;
  byId('summary').textContent =
    `${number(requests)} requests of ${number(clients)} clients, ${dateTime(fromMs)} to ${dateTime(toMs)} (${duration(toMs - fromMs)})`;
  byId('names').textContent = namesAreHidden
    ? 'Names of clients are invented: nobody can turn them back.'
    : 'Names of clients are real: treat this page as personal data.';
  const reasons = [
    ['broken', skipped.broken],
    ['out of order', skipped.outOfOrder],
    ['without a key', skipped.withoutKey],
  ];
  for (const [reason, { count, lines }] of reasons) {
    if (count === 0) continue;
    const more = count > lines.length ? ', …' : '';
    byId('skipped').append(
      element('li', {
        textContent: `${number(count)} ${count === 1 ? 'line' : 'lines'} skipped, ${reason}: ${lines.join(', ')}${more}`,
      }),
    );
  }
}

function showResults() {
  const head = [
    'Limit',
    'Algorithm',
    'Requests',
    'Clients',
    'Admitted',
    'Denied',
    '',
    'Clients denied',
    '',
    'Longest wait',
    'Worst window',
    'Memory',
    'Decisions/s',
  ];
  fillTable(
    byId('results'),
    head,
    result.results.map((r) => [
      r.limit,
      r.algorithm,
      [number(r.requests), r.requests],
      [number(r.clients), r.clients],
      [number(r.admitted), r.admitted],
      [number(r.denied), r.denied],
      percent(r.denied, r.requests),
      [number(r.clientsEverDenied), r.clientsEverDenied],
      percent(r.clientsEverDenied, r.clients),
      [
        r.longestWaitMs === 0 && r.neverPass > 0 ? 'never' : duration(r.longestWaitMs),
        r.longestWaitMs,
      ],
      [`${r.worstWindowRatio.toFixed(2)} ×`, r.worstWindowRatio],
      [bytes(r.memoryBytes), r.memoryBytes ?? ''],
      [number(r.decisionsPerSecond), r.decisionsPerSecond],
    ]),
  );
  for (const line of byId('results').querySelectorAll('tr')) line.children[1].classList.add('text');
}

const colour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const DASHES = {
  'token-bucket': [],
  'sliding-window-counter': [8, 4],
  'sliding-window-log': [2, 3],
  'fixed-window': [10, 3, 2, 3],
};

/** Lines the reader has switched off, kept while limits change. */
const hidden = new Set();

/**
 * One plot with its buttons, a slider that moves its cursor, for the keyboard too, and the words below. `lines` are { name, label, values, show },
 * where `show` says a value in words.
 */
class Plot {
  constructor(id, { x, xText, axes, scales, lines, points = false }) {
    this.id = id;
    this.box = byId(id);
    this.x = x;
    this.xText = xText;
    this.lines = lines;
    this.options = { axes, scales, points };
    this.buttons();
    this.draw();
    this.slider = byId(`${id}-at`);
    this.slider.max = String(x.length - 1);
    this.slider.value = '0';
    this.slider.oninput = () => this.move(Number(this.slider.value));
    this.tell(0);
  }

  draw() {
    this.plot?.destroy();
    const axis = {
      stroke: colour('quiet'),
      grid: { stroke: colour('line'), width: 1 },
      ticks: { stroke: colour('line'), width: 1 },
    };
    const { axes, scales, points } = this.options;
    this.plot = new uPlot(
      {
        width: Math.max(200, this.box.clientWidth),
        height: HEIGHT,
        legend: { show: false },
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
        scales,
        axes: axes.map((one) => ({ ...axis, ...one })),
        cursor: { drag: { x: false, y: false } },
        series: [
          {},
          ...this.lines.map(({ name, label }) => ({
            label,
            show: !hidden.has(name),
            stroke: colour(name),
            fill: name === 'requests' ? `${colour(name)}33` : undefined,
            width: 2,
            dash: DASHES[name] ?? [],
            points: points ? { show: true, size: 6, fill: colour(name) } : { show: false },
          })),
        ],
        hooks: { setCursor: [(plot) => this.tell(plot.cursor.idx)] },
      },
      [this.x, ...this.lines.map(({ values }) => values)],
      this.box,
    );
    this.box.plot = this.plot;
  }

  buttons() {
    byId(`${this.id}-series`).replaceChildren(
      ...this.lines.map(({ name, label }, index) => {
        const button = element('button', { type: 'button', textContent: label });
        button.style.setProperty('--of', `var(--${name})`);
        button.setAttribute('aria-pressed', String(!hidden.has(name)));
        button.onclick = () => {
          if (!hidden.delete(name)) hidden.add(name);
          button.setAttribute('aria-pressed', String(!hidden.has(name)));
          this.plot.setSeries(index + 1, { show: !hidden.has(name) });
        };
        return button;
      }),
    );
  }

  move(index) {
    this.plot.setCursor({ left: this.plot.valToPos(this.x[index], 'x'), top: HEIGHT / 2 });
    this.tell(index);
  }

  tell(index) {
    if (index === null || index === undefined) return;
    this.slider.value = String(index);
    const parts = this.lines
      .filter(
        ({ name, values }) =>
          !hidden.has(name) && values[index] !== null && values[index] !== undefined,
      )
      .map(({ label, values, show = number }) => `${label} ${show(values[index])}`);
    const words = `${this.xText(index)}: ${parts.join(', ')}`;
    byId(`${this.id}-readout`).textContent = words;
    this.slider.setAttribute('aria-valuetext', words);
  }
}

const plots = new Map();
const rowsOf = (limit) =>
  result.results.map((r, index) => ({ ...r, index })).filter((r) => r.limit === limit);

/** Hours and minutes, under the first of a day its date; from three days on dates only. */
function clockTicks(seconds) {
  const isLong = seconds.at(-1) - seconds[0] > 3 * 86_400;
  let day = '';
  return seconds.map((at) => {
    const [date, time] = dateTime(at * 1000).split(' ');
    const isNew = date !== day;
    day = date;
    if (isLong) return isNew ? date.slice(5) : '';
    const shown = seconds[1] - seconds[0] < 60 ? time.slice(0, 8) : time.slice(0, 5);
    return isNew ? `${shown}\n${date}` : shown;
  });
}

function showTimeline(rows) {
  const { startMs, widthMs, requests, denied } = result.timeline;
  const x = requests.map((_, i) => (startMs + i * widthMs) / 1000);
  plots.set(
    'timeline',
    new Plot('timeline', {
      x,
      xText: (i) => `${dateTime(x[i] * 1000)} and ${duration(widthMs)} on`,
      scales: { x: { time: true }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] } },
      axes: [
        { space: 60, values: (_, ticks) => clockTicks(ticks) },
        { size: 72, values: (_, ticks) => ticks.map(number) },
      ],
      lines: [
        { name: 'requests', label: 'requests', values: requests },
        ...rows.map((r) => ({
          name: r.algorithm,
          label: `denied by ${r.algorithm}`,
          values: denied[r.index],
        })),
      ],
    }),
  );
}

function showClients(rows) {
  const { from, clients, clientsDenied } = result.distribution;
  const x = from.map((_, i) => i);
  const range = (i) => (from[i] === 1 ? '1' : `${number(from[i])}–${number(from[i] * 2 - 1)}`);
  plots.set(
    'clients',
    new Plot('clients', {
      x,
      xText: (i) => `${range(i)} requests`,
      scales: {
        x: { time: false, range: [-0.5, x.length - 0.5] },
        y: { range: (_, __, most) => [0, most * 1.5], distr: 4, asinh: 1 },
      },
      axes: [
        {
          splits: () => x,
          values: (plot, ticks) => {
            const step = Math.ceil((45 * ticks.length) / plot.width);
            return ticks.map((i, at) => (at % step === 0 ? number(from[i]) : ''));
          },
        },
        {
          size: 72,
          values: (_, ticks) =>
            ticks.map((tick) => (Number.isInteger(tick) && tick >= 0 ? number(tick) : '')),
        },
      ],
      points: true,
      lines: [
        { name: 'requests', label: 'clients', values: clients },
        ...rows.map((r) => ({
          name: r.algorithm,
          label: `denied by ${r.algorithm}`,
          values: clientsDenied[r.index],
        })),
      ],
    }),
  );
}

function showCandidates(windowMs) {
  const suggestions = result.suggestions.filter((s) => s.windowMs === windowMs);
  byId('candidates-section').hidden = suggestions.length === 0;
  if (suggestions.length === 0) return;
  const measure = byId('measure').value;
  const whole = measure === 'denied' ? result.requests : result.clients;
  const x = [...new Set(suggestions.flatMap(({ tried }) => tried.map(({ limit }) => limit)))].sort(
    (a, b) => a - b,
  );
  const share = (value) => `${Number(value.toPrecision(3))} %`;
  plots.set(
    'candidates',
    new Plot('candidates', {
      x,
      xText: (i) => `${number(x[i])} per ${duration(windowMs)}`,
      scales: { x: { time: false, distr: 3 }, y: { range: [0, 100], distr: 4, asinh: 0.1 } },
      axes: [
        { values: (_, ticks) => ticks.map((tick) => (tick === null ? '' : number(tick))) },
        {
          size: 72,
          splits: () => [0, 0.1, 1, 10, 100],
          values: (_, ticks) => ticks.map((tick) => `${tick} %`),
        },
      ],
      points: true,
      lines: suggestions.map(({ algorithm, tried }) => {
        const known = new Map(tried.map((one) => [one.limit, (100 * one[measure]) / whole]));
        // `undefined` draws on through it, since not every algorithm tried every limit.
        return {
          name: algorithm,
          label: algorithm,
          values: x.map((limit) => known.get(limit)),
          show: share,
        };
      }),
    }),
  );
  const cell = (found) =>
    found === null ? 'none found' : [`${number(found.limit)} / ${duration(windowMs)}`, found.limit];
  const promise = `denies at most ${suggestions[0].percent} %`;
  fillTable(
    byId('suggestions'),
    ['Algorithm', `Smallest that ${promise} of requests`, `of clients`],
    suggestions.map(({ algorithm, ofRequests, ofClients }) => [
      algorithm,
      cell(ofRequests),
      cell(ofClients),
    ]),
  );
}

function showNames(rows) {
  const list = (title, names, columns) =>
    rows
      .filter((r) => names(r).length > 0)
      .flatMap((r) => {
        const table = element('table');
        fillTable(
          table,
          columns,
          names(r).map(([name, requests, denied]) => [
            name,
            [number(requests), requests],
            [number(denied), denied],
            percent(denied, requests),
          ]),
        );
        // A short name stays on one line.
        for (const { cells } of table.tBodies[0].rows) {
          cells[0].classList.toggle('name', cells[0].textContent.length > 24);
        }
        return [element('h3', { textContent: `${title}, ${r.algorithm}` }), table];
      });
  byId('most-denied').replaceChildren(
    ...list('Most denied', (r) => r.mostDenied.map((c) => [c.client, c.requests, c.denied]), [
      'Client',
      'Requests',
      'Denied',
      '',
    ]),
  );
  byId('groups').replaceChildren(
    ...list('Groups', (r) => r.groups.map((g) => [g.group, g.requests, g.denied]), [
      'Group',
      'Requests',
      'Denied',
      '',
    ]),
  );
}

function showLimit() {
  const rows = rowsOf(byId('limit').value);
  showTimeline(rows);
  showClients(rows);
  showNames(rows);
  showCandidates(rows[0].windowMs);
}

const redraw = () => {
  for (const plot of plots.values()) plot.draw();
};

showSummary();
showResults();
const limits = [...new Set(result.results.map(({ limit }) => limit))];
byId('limit').append(
  ...limits.map((limit) => element('option', { value: limit, textContent: limit })),
);
byId('limit').onchange = showLimit;
byId('measure').onchange = () => showCandidates(rowsOf(byId('limit').value)[0].windowMs);
showLimit();
// What scrolls sideways must be within reach of the keyboard.
for (const box of document.querySelectorAll('.scroll')) box.tabIndex = 0;
let width = document.body.clientWidth;
new ResizeObserver(() => {
  if (document.body.clientWidth === width) return;
  width = document.body.clientWidth;
  redraw();
}).observe(document.body);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
