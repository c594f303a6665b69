import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { root } from './compile.ts';

/** One of test/threads/workers and the package in that folder in one CommonJS file, for workers that must start fast. */
export async function bundled(script: string, folder: string, outDir: string): Promise<string> {
  const file = `${script.replace(/\.js$/, '')}.cjs`;
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    resolve: {
      alias: [
        { find: 'sluicegate/testing', replacement: fileURLToPath(`${folder}testing.js`) },
        { find: 'sluicegate', replacement: fileURLToPath(`${folder}index.js`) },
      ],
    },
    build: {
      ssr: join('test', 'threads', 'workers', script),
      outDir,
      emptyOutDir: false,
      rollupOptions: { output: { format: 'cjs', entryFileNames: file } },
    },
  });
  return join(outDir, file);
}
