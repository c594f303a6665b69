import { HELP, replayOptions } from './options.ts';
import { Progress } from './progress.ts';
import { hideNames } from './pseudonyms.ts';
import { replayLogs } from './replay.ts';
import { checkReportPath, writeReport } from './report/report.ts';
import { number, skippedLines, tables } from './tables.ts';

/** `sluicegate replay`: what limits would have done to the traffic of a log. */
export async function replay(args: string[]): Promise<void> {
  const options = replayOptions(args);
  if (options === undefined) {
    console.log(HELP);
    return;
  }
  if (options.report !== undefined) checkReportPath(options.report);
  const progress = new Progress(process.stderr);
  const result = await replayLogs(options, progress).finally(() => progress.clear());
  const hidden = hideNames(result, options.fields);
  const shown = options.hidesNames.output ? hidden : result;
  console.log(options.json ? JSON.stringify(shown, undefined, 2) : tables(shown));
  if (options.json) for (const line of skippedLines(result.skipped)) console.error(line);
  if (options.report !== undefined) {
    const hides = options.hidesNames.report;
    writeReport(options.report, hides ? hidden : result, hides);
    console.error(`wrote ${options.report}`);
  }
  const { lines, seconds, linesPerSecond } = result;
  console.error(
    `${number(lines)} lines in ${seconds.toFixed(1)} s, ${number(linesPerSecond)} lines/s`,
  );
}
