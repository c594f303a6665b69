import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { open } from '../support/browser.ts';
import { Command } from './command.ts';

const ALGORITHMS = ['token-bucket', 'sliding-window-counter', 'sliding-window-log', 'fixed-window'];
const LIMIT = 10;

let demo: Command;
let url: string;

beforeAll(async () => {
  demo = new Command(['demo'], { PORT: '0' });
  url = await demo.url();
});

afterAll(() => demo.stop());

/** A number of each algorithm's card. */
async function shown(page: Page, name: string): Promise<number[]> {
  const texts = ALGORITHMS.map((id) => page.locator(`#${id} [data-is=${name}]`).textContent());
  return (await Promise.all(texts)).map(Number);
}

describe('the comparison of algorithms', () => {
  it('lets through at most the limit of one burst, whatever the algorithm', async () => {
    const { page, complaints } = await open(`${url}/compare`);
    await page.getByRole('button', { name: '50', exact: true }).click();
    await page.getByText('Admitted: token bucket 10').waitFor();
    expect(await shown(page, 'admitted')).toEqual([10, 10, 10, 10]);
    expect(await shown(page, 'denied')).toEqual([40, 40, 40, 40]);
    expect(await shown(page, 'worst')).toEqual([10, 10, 10, 10]);
    await page.getByRole('button', { name: 'Start anew' }).click();
    expect(await shown(page, 'admitted')).toEqual([0, 0, 0, 0]);
    await page.getByRole('button', { name: '5', exact: true }).click();
    await page.getByText('Admitted: token bucket 5').waitFor();
    expect(await shown(page, 'denied')).toEqual([0, 0, 0, 0]);
    expect(complaints.console).toEqual([]);
    for (const request of complaints.requests) expect(request).toMatch(`${url}/compare`);
    await page.close();
  });

  it('shows twice the limit pass across the edge of a fixed window, and of no other', async () => {
    const { page, complaints } = await open(`${url}/compare`, {
      viewport: { width: 390, height: 800 },
    });
    await page.getByRole('button', { name: /across a window's edge/ }).click();
    await page.getByText('Of the second 10 admitted').waitFor({ timeout: 20_000 });
    const [bucket = 0, counter = 0, log = 0, fixed = 0] = await shown(page, 'worst');
    expect(fixed).toBe(2 * LIMIT);
    expect(log).toBe(LIMIT);
    // A quarter of a second and a timer's delay: a token in half a second, and hardly less of the previous window.
    expect(bucket).toBeLessThanOrEqual(LIMIT + 4);
    expect(counter).toBeLessThanOrEqual(LIMIT + 4);
    expect(await page.locator('#fixed-window [data-is=worst]').getAttribute('class')).toBe('over');
    expect(await page.locator('#sliding-window-log .over').count()).toBe(0);
    // Drawn a moment after the text.
    const bars = page.locator('#fixed-window svg rect.admitted');
    await bars.nth(1).waitFor({ state: 'attached' });
    expect(await bars.count()).toBe(2);
    expect(await page.locator('#fixed-window svg line').count()).toBeGreaterThan(0);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(complaints.console).toEqual([]);
    const folder = process.env.SCREENSHOTS;
    if (folder) await page.screenshot({ path: join(folder, 'compare.png'), fullPage: true });
    await page.close();
  });

  it.each([
    ['POST', '/compare/burst?calls=1', 400],
    ['POST', '/compare/burst?calls=0&visitor=a', 400],
    ['POST', '/compare/burst?calls=51&visitor=a', 400],
    ['POST', '/compare/burst?calls=x&visitor=a', 400],
    ['POST', '/compare/boundary?visitor=a%20b', 400],
    ['GET', '/compare/burst?calls=1&visitor=a', 404],
    ['GET', '/compare/', 404],
  ])('refuses %s %s', async (method, path, status) => {
    expect((await fetch(url + path, { method })).status).toBe(status);
  });

  it('ends with the demo, waiting or not', async () => {
    const other = new Command(['demo'], { PORT: '0' });
    const address = await other.url();
    const waiting = fetch(`${address}/compare/boundary?visitor=a`, { method: 'POST' });
    const refused = expect(waiting).rejects.toThrow();
    await fetch(`${address}/compare/clock`);
    other.child.kill('SIGTERM');
    expect(await other.ended).toMatchObject({ code: 0, stderr: '' });
    await refused;
  });
});
