import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Command } from './command.ts';

function run(...args: string[]) {
  return new Command(args).ended;
}

describe('the sluicegate command', () => {
  it.each(['--help', '-h', 'demo --help', 'demo -h', 'replay --help'])(
    'explains itself: %s',
    async (args) => {
      const { code, stdout, stderr } = await run(...args.split(' '));
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^Usage: sluicegate /);
    },
  );

  it('tells its version', async () => {
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    const { code, stdout } = await run('--version');
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${JSON.parse(manifest).version}\n` });
  });

  it.each([
    [[], 'no command given'],
    [['dmeo'], "unknown command 'dmeo'"],
    [['constructor'], "unknown command 'constructor'"],
    [['--verbose'], "unknown option '--verbose'"],
    [['demo', '--bogus'], "unknown option '--bogus'"],
    [['demo', '--a.b'], "unknown option '--a.b'"],
    [['demo', 'now'], "unexpected argument 'now'"],
    [['demo', '--port'], "option '--port <value>' argument missing"],
    [['demo', '--port', '80000'], "--port must be a whole number from 0 to 65535; got '80000'"],
    [['demo', '--port', '-1'], "option '--port' argument is ambiguous"],
  ])('refuses %j with exit code 2', async (args, message) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`sluicegate: ${message}`);
    expect(stderr).toMatch(/\nSee: sluicegate --help\n$/);
  });

  it('refuses a PORT that is none with exit code 2', async () => {
    const { code, stderr } = await new Command(['demo'], { PORT: 'http' }).ended;
    expect(code).toBe(2);
    expect(stderr).toContain("PORT must be a whole number from 0 to 65535; got 'http'");
  });
});
