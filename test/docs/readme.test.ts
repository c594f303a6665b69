import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = readFileSync(`${root}/README.md`, 'utf8');

/** Every `js` block, with the `text` block that may follow it: what it prints. */
const programs = [...readme.matchAll(/^```js\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms)].map(
  ([, code = '', prints = ''], index) => ({ code, prints, number: index + 1 }),
);

describe('the README', () => {
  it('shows its use in programs', () => {
    expect(programs.length).toBeGreaterThan(3);
  });

  // As a file below the repository, where its own name leads to dist/, as for a user who has installed it.
  it.each(programs)('prints what it says: program $number', ({ code, prints, number }) => {
    const file = `${root}/build/readme-${number}.mjs`;
    writeFileSync(file, code);
    const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({ stdout: prints, stderr: '' });
  });

  it('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
    const named = [...readme.matchAll(/^npm (?:run )?([\w:]+)/gm)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(5);
    expect(Object.keys(scripts)).toEqual(
      expect.arrayContaining(named.filter((name) => name !== 'install')),
    );
  });

  it('links to files and headings that exist', () => {
    const targets = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => target);
    const headings = [...readme.matchAll(/^#+ (.+)$/gm)].map(
      ([, title = '']) => `#${title.toLowerCase().replaceAll(' ', '-')}`,
    );
    expect(targets.length).toBeGreaterThan(0);
    const missing = targets.filter((target) =>
      target.startsWith('#') ? !headings.includes(target) : !existsSync(`${root}/${target}`),
    );
    expect(missing).toEqual([]);
  });

  it('lists every error code', () => {
    const source = readFileSync(`${root}/src/errors.ts`, 'utf8');
    const codes = (text: string) => new Set(text.match(/ERR_\w+/g));
    expect(codes(readme)).toEqual(codes(source));
  });
});
