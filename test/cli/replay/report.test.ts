import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ReplayResult } from '../../../src/cli/replay/result.ts';
import { open } from '../../support/browser.ts';
import { readTrace } from '../../support/trace.ts';
import { file, replay, replayed } from './run.ts';

const START_MS = 1_500_000_000_000;
const TITLE = 'What limits would have done to wrccdc.json';
const LIMITS = ['--limit', '100/60s', '--limit', '20/10s', '--algorithm', 'all'];

const report = file('report.html');
let result: ReplayResult;

beforeAll(async () => {
  const lines = readTrace('wrccdc-dns-tls')
    .slice(0, 30_000)
    .map(({ ms, client }) => {
      const path = client % 2 === 0 ? '/<script>alert(1)</script>' : '/b';
      return `{"time":${START_MS + ms},"client":"secret-${client}","path":"${path}"}\n`;
    });
  const log = file('wrccdc.json', `${lines.join('')}broken\n`);
  const args = ['--suggest', '5', '--group-by', 'path', '--report', report];
  result = await replayed([log, ...LIMITS, ...args]);
}, 60_000);

// In the page, as text: the types of the DOM would be in reach of the whole project.

/** The plain numbers of a table, by row. */
function values(page: Page, table: string): Promise<number[][]> {
  return page.evaluate(
    `[...document.querySelectorAll('${table} tbody tr')].map((row) =>
      [...row.querySelectorAll('[data-value]')].map((cell) => Number(cell.dataset.value)))`,
  );
}

/** What a plot draws: its columns. */
function drawn(page: Page, id: string): Promise<(number | null | undefined)[][]> {
  return page.evaluate(`document.getElementById('${id}').plot.data`);
}

/** Whether anything has been painted on its canvas. */
function isPainted(page: Page, id: string): Promise<boolean> {
  return page.evaluate(`(() => {
    const canvas = document.querySelector('#${id} canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.some((value) => value !== 0);
  })()`);
}

describe('the report', () => {
  it('is one file that asks nobody for anything', async () => {
    const html = readFileSync(report, 'utf8');
    expect(html).not.toMatch(/(src|href)="(?!data:)/);
    const { page, complaints } = await open(`file://${report}`);
    await page.getByRole('heading', { level: 1, name: TITLE }).waitFor();
    expect(await page.getByText('Decided in Redis').isVisible()).toBe(false);
    for (const id of ['timeline', 'clients', 'candidates'])
      expect(await isPainted(page, id)).toBe(true);
    expect(complaints).toEqual({ console: [], requests: [`file://${report}`] });
    await page.close();
  });

  it('has the numbers of the JSON', async () => {
    const { page } = await open(`file://${report}`);
    expect(await values(page, '#results')).toEqual(
      result.results.map((row) => [
        row.requests,
        row.clients,
        row.admitted,
        row.denied,
        row.clientsEverDenied,
        row.longestWaitMs,
        row.worstWindowRatio,
        row.memoryBytes,
        row.decisionsPerSecond,
      ]),
    );
    for (const limit of ['100/60s', '20/10s']) {
      await page.getByLabel('Limit shown below').selectOption(limit);
      const rows = result.results.flatMap((row, index) =>
        row.limit === limit ? [{ ...row, index }] : [],
      );
      expect(rows).toHaveLength(4);
      const { timeline, distribution } = result;
      const seconds = timeline.requests.map(
        (_, i) => (timeline.startMs + i * timeline.widthMs) / 1000,
      );
      const denied = rows.map(({ index }) => timeline.denied[index]);
      expect(await drawn(page, 'timeline')).toEqual([seconds, timeline.requests, ...denied]);
      const [, clients, ...clientsDenied] = await drawn(page, 'clients');
      expect(clients).toEqual(distribution.clients);
      expect(clientsDenied).toEqual(rows.map(({ index }) => distribution.clientsDenied[index]));
      expect(await values(page, '#most-denied')).toEqual(
        rows.flatMap(({ mostDenied }) => mostDenied.map((row) => [row.requests, row.denied])),
      );
      expect(await values(page, '#groups')).toEqual(
        rows.flatMap(({ groups }) => groups.map((row) => [row.requests, row.denied])),
      );
      const suggestions = result.suggestions.filter(
        ({ windowMs }) => windowMs === rows[0]?.windowMs,
      );
      expect(await values(page, '#suggestions')).toEqual(
        suggestions.map(({ ofRequests, ofClients }) => [ofRequests?.limit, ofClients?.limit]),
      );
      const [candidates = [], ...shares] = await drawn(page, 'candidates');
      suggestions.forEach(({ tried }, line) => {
        for (const one of tried) {
          const share = (100 * one.denied) / result.requests;
          expect(shares[line]?.[candidates.indexOf(one.limit)]).toBeCloseTo(share, 9);
        }
      });
    }
    const { requests } = result;
    expect(await page.locator('#summary').textContent()).toContain(
      `${requests.toLocaleString('en')} requests of`,
    );
    expect(await page.locator('#skipped').textContent()).toBe(
      '1 line skipped, broken: 30001 (no JSON object)',
    );
    await page.close();
  });

  it('names nobody, unless told to', async () => {
    expect(readFileSync(report, 'utf8')).not.toContain('secret-');
    expect(result.results[0]?.mostDenied[0]?.client).toMatch(/^secret-\d+$/);
    const named = file('named.html');
    const log = file('small.json', `{"time":1,"ip":"192.0.2.99"}\n`.repeat(3));
    await replay([log, '--limit', '1/s', '--report', named, '--no-pseudonymise']);
    expect(readFileSync(named, 'utf8')).toContain('192.0.2.99');
  });

  it('is used by keyboard', async () => {
    const { page } = await open(`file://${report}`);
    const slider = page.getByRole('slider', { name: 'Moment' });
    const readout = page.locator('#timeline-readout');
    await slider.focus();
    await page.keyboard.press('End');
    const last = result.timeline.requests.at(-1)?.toLocaleString('en');
    expect(await readout.textContent()).toContain(`: requests ${last}, denied by token-bucket `);
    expect(await slider.getAttribute('aria-valuetext')).toBe(await readout.textContent());
    await page.keyboard.press('ArrowLeft');
    const before = result.timeline.requests.at(-2)?.toLocaleString('en');
    expect(await readout.textContent()).toContain(`: requests ${before},`);
    const button = page.locator('#timeline-series').getByRole('button', { name: 'requests' });
    await button.focus();
    await page.keyboard.press('Space');
    expect(await button.getAttribute('aria-pressed')).toBe('false');
    await slider.focus();
    await page.keyboard.press('Home');
    expect(await readout.textContent()).not.toContain('requests');
    const reached = new Set<string>();
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab');
      reached.add(
        await page.evaluate<string>(
          'document.activeElement.tagName + " " + document.activeElement.id',
        ),
      );
    }
    expect([...reached]).toEqual(
      expect.arrayContaining([
        'SELECT limit',
        'SELECT measure',
        'INPUT clients-at',
        'INPUT candidates-at',
        'BUTTON ',
        'SECTION ',
      ]),
    );
    await page.close();
  }, 60_000);

  it.each([
    ['light', 1280, 'light', /^rgb\(255, 255, 255\)$/],
    ['dark', 1280, 'dark', /^rgb\(1?\d, 1?\d, 2?\d\)$/],
    ['a phone', 360, 'light', /^rgb\(255, 255, 255\)$/],
  ] as const)('is readable in %s', async (name, width, colorScheme, paper) => {
    const { page, complaints } = await open(`file://${report}`, {
      viewport: { width, height: 800 },
      colorScheme,
    });
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toMatch(paper);
    const sideways = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(sideways).toBeLessThanOrEqual(0);
    for (const box of await page.locator('.plot canvas').all()) {
      expect((await box.boundingBox())?.width).toBeGreaterThan(width / 2);
    }
    expect(complaints.console).toEqual([]);
    const folder = process.env.SCREENSHOTS;
    if (folder) await page.screenshot({ path: join(folder, `report-${name}.png`), fullPage: true });
    await page.close();
  });

  it.each([
    [
      join(tmpdir(), 'no-such-folder', 'out.html'),
      /^sluicegate: cannot write out.html: there is no folder /,
    ],
    [dirname(report), /^sluicegate: cannot write .*: this is a folder$/m],
  ])('that cannot be written is told at once: %s', async (path, message) => {
    rmSync(join(tmpdir(), 'no-such-folder'), { recursive: true, force: true });
    mkdirSync(dirname(report), { recursive: true });
    const { code, stderr } = await replay([
      file('log.json', '{}'),
      '--limit',
      '1/s',
      '--report',
      path,
    ]);
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
  });
});
