import { Random } from './random.ts';

const AGENTS = [
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
  'curl/8.14.1',
  'Googlebot/2.1 (+http://www.google.com/bot.html)',
];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const START_MS = Date.UTC(2026, 0, 1);

/**
 * A combined log that looks like one, the same for the same seed: a few clients make most requests, some over IPv6,
 * about 60 a second. Comes in blocks of whole lines, so that a log of any size takes no memory.
 */
export function* accessLog(seed: number, bytes: number, clients = 50_000): Generator<Buffer> {
  const random = new Random(seed);
  let ms = START_MS;
  for (let written = 0; written < bytes; ) {
    let block = '';
    while (block.length < 256 * 1024 && written + block.length < bytes) {
      ms += random.below(33);
      // Cubed: 1 % of the clients make a fifth of the requests.
      const client = Math.floor(random.fraction() ** 3 * clients);
      block += line(ms, client, random);
    }
    written += block.length;
    yield Buffer.from(block, 'latin1');
  }
}

let second = 0;
let stamp = '';

function line(ms: number, client: number, random: Random): string {
  const now = Math.floor(ms / 1000);
  if (now !== second) {
    const iso = new Date(ms).toISOString();
    const month = MONTHS[Number(iso.slice(5, 7)) - 1];
    stamp = `${iso.slice(8, 10)}/${month}/${iso.slice(0, 4)}:${iso.slice(11, 19)}`;
    second = now;
  }
  const path = `/products/${random.below(5_000)}?page=${random.below(40)}`;
  const agent = AGENTS[client % AGENTS.length];
  return `${addressOf(client)} - - [${stamp} +0000] "GET ${path} HTTP/1.1" 200 ${random.below(90_000)} "https://www.example.com/products" "${agent}"\n`;
}

function addressOf(client: number): string {
  if (client % 5 === 0)
    return `2001:db8:${client.toString(16)}:${(client % 7) * 256}::${client % 3}`;
  return `${11 + (client % 180)}.${(client >> 8) & 255}.${client & 255}.${client % 251}`;
}
