import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll } from 'vitest';

/** No service of the browser's own asks the network for anything. */
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let browser: Browser | undefined;
afterAll(() => browser?.close());

/** What a page did that it should not have. */
export interface Complaints {
  readonly console: string[];
  readonly requests: string[];
}

/** Opens a page in a real Chromium, which `npm test` has found; one browser serves a whole test file. */
export async function open(
  url: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; complaints: Complaints }> {
  const executablePath = process.env.CHROMIUM;
  if (!executablePath) throw new Error('CHROMIUM is not set: run the tests with npm test');
  browser ??= await chromium.launch({ executablePath, args: ARGS });
  const page = await browser.newPage(options);
  const complaints: Complaints = { console: [], requests: [] };
  page.on('console', (message) => complaints.console.push(message.text()));
  page.on('pageerror', (error) => complaints.console.push(String(error)));
  page.on('request', (request) => complaints.requests.push(request.url()));
  await page.goto(url);
  return { page, complaints };
}
