// What the demo's page does. The build puts it into the page; it runs in the browser.
const POLL_MS = 200;
const HIDDEN_POLL_MS = 2_000;
const ANSWERS_SHOWN = 50;

const main = document.querySelector('main');
const template = document.querySelector('template');
const connection = document.querySelector('#connection');
/** By path. */
const cards = new Map();

const player = () => document.querySelector('[name=client]:checked').value;
const part = (card, name) => card.querySelector(`[data-is=${name}]`);
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

function element(tag, className) {
  const made = document.createElement(tag);
  made.className = className;
  return made;
}

async function poll() {
  await refresh();
  setTimeout(poll, document.hidden ? HIDDEN_POLL_MS : POLL_MS);
}

async function refresh() {
  try {
    const response = await fetch('/stats');
    show(await response.json());
    setConnection('Live', false);
  } catch {
    setConnection('No answer from the server', true);
  }
}

function setConnection(text, lost) {
  if (connection.textContent !== text) connection.textContent = text;
  connection.classList.toggle('lost', lost);
}

function show({ you, routes }) {
  document.querySelector('#you').textContent = you;
  for (const route of routes) {
    if (!cards.has(route.path)) cards.set(route.path, makeCard(route));
    showRoute(cards.get(route.path), route, player() || you);
  }
}

function makeCard(route) {
  const card = template.content.cloneNode(true).firstElementChild;
  part(card, 'title').textContent = route.title;
  part(card, 'rule').textContent = route.rule;
  part(card, 'request').textContent = `${route.method} ${route.path}`;
  part(card, 'bursts').textContent = `Requests to ${route.title}`;
  addCells(card.querySelector('.gauge'), route.policy.limit);
  nameGauge(card.querySelector('.gauge'), route.title);
  for (const button of card.querySelectorAll('button')) {
    button.addEventListener('click', () => burst(card, route, Number(button.value)));
  }
  main.append(card);
  return card;
}

function addCells(gauge, count) {
  gauge.querySelector('meter').max = count;
  gauge.append(...Array.from({ length: count }, () => element('span', 'cell')));
}

function nameGauge(gauge, name) {
  gauge.querySelector('meter').setAttribute('aria-label', `${name}: permits left`);
}

function showRoute(card, { policy, stats, deciders, clients }, me) {
  const mine = clients.find(({ client }) => client === me);
  const { remaining, retryAfterMs, resetAfterMs } = mine ?? {
    remaining: policy.limit,
    retryAfterMs: 0,
    resetAfterMs: 0,
  };
  showGauge(card.querySelector('.gauge'), remaining);
  part(card, 'left').textContent = `${remaining} of ${policy.limit} left`;
  part(card, 'wait').textContent =
    retryAfterMs > 0
      ? `next in ${seconds(retryAfterMs)}`
      : resetAfterMs > 0
        ? `as new in ${seconds(resetAfterMs)}`
        : '';
  part(card, 'allowed').textContent = stats.allowed.toLocaleString('en');
  part(card, 'denied').textContent = stats.denied.toLocaleString('en');
  showDeciders(card, deciders);
  showOthers(
    card,
    policy.limit,
    clients.filter(({ client }) => client !== me),
  );
}

/** What each worker let through: different numbers every time, the same limit in all. */
function showDeciders(card, deciders) {
  const line = part(card, 'deciders');
  line.hidden = deciders.length < 2;
  line.textContent = `Allowed by ${deciders
    .map(({ decider, allowed }) => `${decider}: ${allowed.toLocaleString('en')}`)
    .join(', ')}`;
}

function showGauge(gauge, remaining) {
  gauge.querySelector('meter').value = remaining;
  for (const [i, cell] of gauge.querySelectorAll('.cell').entries()) {
    cell.classList.toggle('full', i < remaining);
  }
}

function showOthers(card, limit, others) {
  const list = card.querySelector('ul');
  card.querySelector('section').hidden = others.length === 0;
  while (list.children.length > others.length) list.lastElementChild.remove();
  while (list.children.length < others.length) list.append(makeOther(limit));
  // In an order of their own, so that rows do not jump about.
  others.sort((a, b) => (a.client < b.client ? -1 : 1));
  for (const [i, { client, remaining }] of others.entries()) {
    const row = list.children[i];
    row.querySelector('.name').textContent = client;
    const gauge = row.querySelector('.gauge');
    nameGauge(gauge, client);
    showGauge(gauge, remaining);
  }
}

function makeOther(limit) {
  const row = document.createElement('li');
  const gauge = template.content.querySelector('.gauge').cloneNode(true);
  gauge.classList.add('small');
  addCells(gauge, limit);
  row.append(element('span', 'name'), gauge);
  return row;
}

async function burst(card, route, count) {
  const name = player();
  const url = name === '' ? route.path : `${route.path}?client=${name}`;
  const answers = card.querySelector('.answers');
  let denied = 0;
  let failed = 0;
  let retryAfter = '';
  const send = async () => {
    try {
      const response = await fetch(url, { method: route.method });
      addAnswer(answers, response.ok);
      if (response.ok) return;
      denied += 1;
      retryAfter = response.headers.get('Retry-After');
    } catch {
      failed += 1;
    }
  };
  await Promise.all(Array.from({ length: count }, send));
  const sentences = [
    `${count} sent: ${count - denied - failed} allowed, ${denied} denied.`,
    denied > 0 ? `Retry after ${retryAfter} s.` : '',
    failed > 0 ? `${failed} without an answer.` : '',
  ];
  part(card, 'outcome').textContent = sentences.join(' ').trim();
  await refresh();
}

function addAnswer(answers, allowed) {
  answers.append(element('span', allowed ? 'answer' : 'answer denied'));
  if (answers.children.length > ANSWERS_SHOWN) answers.firstElementChild.remove();
}

poll();
