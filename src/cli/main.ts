#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { demo } from './demo/command.ts';
import { CliFault, parseFault, usageFault } from './fault.ts';
import { replay } from './replay/command.ts';

const HELP = `Usage: sluicegate <command> [options]

Commands:
  demo           serve three limited routes and a page to try them on
  replay         tell what a limit would have done to an access log

Options:
  -h, --help     show this, or the help of a command
  -v, --version  show the version`;

const COMMANDS = new Map([
  ['demo', demo],
  ['replay', replay],
]);

async function main(args: string[]): Promise<void> {
  const [name = '', ...rest] = args;
  const command = COMMANDS.get(name);
  if (command !== undefined) return command(rest);
  const { values, positionals } = parseArgs({
    args,
    options: {
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
    },
    allowPositionals: true,
  });
  if (values.help) console.log(HELP);
  else if (values.version) console.log(version());
  else if (positionals.length === 0) throw usageFault('no command given');
  else throw usageFault(`unknown command '${positionals[0]}'`);
}

function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return JSON.parse(manifest).version;
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const fault = parseFault(error);
  if (!(fault instanceof CliFault)) throw error;
  console.error(`sluicegate: ${fault.message}`);
  process.exitCode = fault.exitCode;
});
