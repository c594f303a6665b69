const SPAN_MS = 15_000;
const WIDTH = 600;
const HEIGHT = 56;
const PER_CALL = 1.1;
const ALGORITHMS = ['token-bucket', 'sliding-window-counter', 'sliding-window-log', 'fixed-window'];

const { nowMs, windowMs, limit } = await (await fetch('/compare/clock')).json();
/** The server's clock, told by this page's. */
const offsetMs = nowMs - performance.now();
const now = () => performance.now() + offsetMs;
const say = (text) => {
  document.getElementById('said').textContent = text;
};

let visitor = crypto.randomUUID();
const cards = new Map(ALGORITHMS.map((algorithm) => [algorithm, card(algorithm)]));

function card(algorithm) {
  const article = document.querySelector('template').content.firstElementChild.cloneNode(true);
  article.id = algorithm;
  article.querySelector('h2').textContent = algorithm.replaceAll('-', ' ');
  document.querySelector('main').append(article);
  return {
    article,
    svg: article.querySelector('svg'),
    bursts: [],
    worst: 0,
    admitted: 0,
    denied: 0,
  };
}

const show = ({ article }, name, value) => {
  const place = article.querySelector(`[data-is=${name}]`);
  place.textContent = value;
  return place;
};

/** What was admitted in the window that ends at a moment. */
const trailing = ({ bursts }, atMs) =>
  bursts
    .filter((burst) => burst.atMs > atMs - windowMs && burst.atMs <= atMs)
    .reduce((sum, burst) => sum + burst.admitted, 0);

function take({ atMs, answers }) {
  for (const { algorithm, admitted, denied, retryAfterMs } of answers) {
    const one = cards.get(algorithm);
    one.bursts = [
      ...one.bursts.filter((burst) => burst.atMs > atMs - SPAN_MS - windowMs),
      { atMs, admitted, denied },
    ];
    one.admitted += admitted;
    one.denied += denied;
    one.worst = Math.max(one.worst, trailing(one, atMs));
    show(one, 'admitted', one.admitted);
    show(one, 'denied', one.denied);
    show(one, 'worst', one.worst).classList.toggle('over', one.worst > limit);
    show(
      one,
      'wait',
      denied > 0 ? `Told the denied to wait ${(retryAfterMs / 1000).toFixed(1)} s` : '',
    );
  }
}

async function send(path) {
  const response = await fetch(`${path}visitor=${visitor}`, { method: 'POST' });
  const { bursts, error } = await response.json();
  if (error !== undefined) throw new Error(error);
  for (const burst of bursts) take(burst);
  const parts = bursts
    .at(-1)
    .answers.map(({ algorithm, admitted }) => `${algorithm.replaceAll('-', ' ')} ${admitted}`);
  say(`${bursts.length > 1 ? 'Of the second 10 admitted' : 'Admitted'}: ${parts.join(', ')}`);
}

const failed = () => say('The server does not answer');

for (const button of document.querySelectorAll('[data-calls]')) {
  button.onclick = () => send(`/compare/burst?calls=${button.dataset.calls}&`).catch(failed);
}
const boundary = document.getElementById('boundary');
boundary.onclick = async () => {
  boundary.disabled = true;
  say('Waiting for the next edge of a window');
  await send('/compare/boundary?').catch(failed);
  boundary.disabled = false;
};
document.getElementById('anew').onclick = () => {
  visitor = crypto.randomUUID();
  for (const one of cards.values()) {
    Object.assign(one, { bursts: [], worst: 0, admitted: 0, denied: 0 });
    for (const name of ['admitted', 'denied', 'worst']) show(one, name, 0).classList.remove('over');
    show(one, 'wait', '');
  }
  say('Full budgets again');
};

function draw() {
  const atMs = now();
  const x = (ms) => (WIDTH * (ms - atMs + SPAN_MS)) / SPAN_MS;
  let edges = '';
  for (let edge = Math.floor(atMs / windowMs) * windowMs; edge > atMs - SPAN_MS; edge -= windowMs) {
    edges += `<line class="edge" x1="${x(edge)}" x2="${x(edge)}" y1="0" y2="${HEIGHT}"/>`;
  }
  for (const one of cards.values()) {
    const bars = one.bursts.map(({ atMs: ms, admitted, denied }) => {
      const [high, higher] = [admitted, admitted + denied].map((calls) =>
        Math.min(HEIGHT, calls * PER_CALL * 2),
      );
      const bar = (name, top, height) =>
        `<rect class="${name}" x="${x(ms) - 3}" width="6" y="${HEIGHT - top}" height="${height}"/>`;
      return bar('admitted', high, high) + bar('denied', higher, higher - high);
    });
    one.svg.innerHTML = edges + bars.join('');
    show(one, 'trailing', trailing(one, atMs)).classList.toggle(
      'over',
      trailing(one, atMs) > limit,
    );
  }
}

// Nothing glides for those who do not want it to.
const stepMs = matchMedia('(prefers-reduced-motion: reduce)').matches ? 1_000 : 50;
setInterval(draw, stepMs);
draw();
