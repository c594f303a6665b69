import { progress } from './progress.ts';
import { asText } from './render.ts';
import { type SuiteReport, writeSuiteReport } from './report.ts';

/** Prints what a suite has measured, and keeps it unless the effort left some out. */
export function publish<Row>(report: SuiteReport<Row>): void {
  const { measured, effort } = report;
  progress('');
  if (measured.rows.length === 0) {
    console.log(`\nNothing here has "${effort.only}" in its name.`);
    process.exitCode = 2;
    return;
  }
  console.log(`\n${asText(measured.section)}`);
  if (effort.only === '') console.log(`\nKept in ${writeSuiteReport(report)}`);
}
