import type { WriteStream } from 'node:tty';
import { expect, it } from 'vitest';
import { Progress } from '../../../src/cli/replay/progress.ts';

function written(isTTY: boolean): { progress: Progress; texts: string[] } {
  const texts: string[] = [];
  const out = { isTTY, write: (text: string) => texts.push(text) };
  return { progress: new Progress(out as unknown as WriteStream), texts };
}

it('a terminal sees a bar, which is gone in the end', () => {
  const { progress, texts } = written(true);
  progress.show('reading', 25, 100);
  // At most ten a second.
  progress.show('reading', 26, 100);
  progress.clear();
  progress.show('reading', 3 * 2 ** 20, 0);
  expect(texts).toEqual([
    '\r\x1b[Kreading [########......................] 25 %',
    '\r\x1b[K',
    '\r\x1b[Kreading 3 MiB',
  ]);
});

it('a file or a pipe sees none', () => {
  const { progress, texts } = written(false);
  progress.show('reading', 25, 100);
  progress.clear();
  expect(texts).toEqual([]);
});
