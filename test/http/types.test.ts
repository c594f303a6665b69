import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

it('the published types fit the frameworks’ own, with libraries checked too', () => {
  const project = join(root, 'build', 'types');
  mkdirSync(project, { recursive: true });
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2023'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
  };
  const files = [join(root, 'test', 'http', 'types.ts')];
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' });
  rmSync(project, { recursive: true });
  // Errors of the frameworks' own types are theirs.
  const ours = stdout.split('\n').filter((line) => line !== '' && !/node_modules\//.test(line));
  expect(ours).toEqual([]);
});
