import { statSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { CliFault } from '../../fault.ts';
import type { ReplayResult } from '../result.ts';
import { page } from './page.generated.ts';

const NO_DATA = '<script type="application/json" id="data">null</script>';

/** What is wrong with the place of a report is told before a long log is read, not after. */
export function checkReportPath(path: string): void {
  const isFolder = (name: string) => statSync(name, { throwIfNoEntry: false })?.isDirectory();
  if (isFolder(path)) throw new CliFault(`cannot write ${basename(path)}: this is a folder`, 1);
  const folder = dirname(path);
  if (!isFolder(folder)) {
    throw new CliFault(`cannot write ${basename(path)}: there is no folder ${folder}`, 1);
  }
}

/** Writes the page: one file that loads nothing from anywhere. */
export function writeReport(path: string, result: ReplayResult, namesAreHidden: boolean): void {
  // Nothing in a log may end the script that it is in.
  const json = JSON.stringify({ result, namesAreHidden }).replaceAll('<', '\\u003c');
  const html = page.replace(NO_DATA, () => NO_DATA.replace('null', () => json));
  try {
    writeFileSync(path, html);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new CliFault(`cannot write ${basename(path)}: ${cause}`, 1);
  }
}
