/** What ends the command with a message and an exit code, and without a stack trace. */
export class CliFault extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The command was given something it does not know. */
export function usageFault(message: string): CliFault {
  return new CliFault(`${message}\nSee: sluicegate --help`, 2);
}

/** A `parseArgs` error in our words, any other one as it is. */
export function parseFault(error: unknown): unknown {
  if (!(error instanceof TypeError && 'code' in error)) return error;
  if (!String(error.code).startsWith('ERR_PARSE_ARGS')) return error;
  const [firstSentence = ''] = error.message.split(/\. (?=To |This )/);
  return usageFault(firstSentence.charAt(0).toLowerCase() + firstSentence.slice(1));
}
