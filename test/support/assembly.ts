import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const ENTRY = 'entry.ts';

interface Compiler {
  main(
    argv: string[],
    files: {
      readFile(name: string): string | null;
      writeFile(name: string, contents: unknown): void;
      listFiles(): null;
    },
  ): Promise<{ error: Error | null; stderr: { toString(): string } }>;
}

/** By a name that TypeScript does not follow: the compiler's types declare AssemblyScript's globals for everyone. */
async function compiler(): Promise<Compiler> {
  const name: string = 'assemblyscript/asc';
  return (await import(name)).default;
}

/**
 * Compiles an AssemblyScript module that imports from `./assembly/...` of this repository, as a release would be, and
 * makes an instance with a page of memory of its own.
 */
export async function instantiateAssembly(source: string): Promise<WebAssembly.Exports> {
  let binary = new Uint8Array();
  const asc = await compiler();
  const { error, stderr } = await asc.main(
    [ENTRY, '--outFile', 'out.wasm', '-O3', '--runtime', 'stub', '--noAssert', '--use', 'abort='],
    {
      readFile: (name) => {
        if (name === ENTRY) return source;
        // Not the repository's own asconfig.json, which has the memory imported.
        return name.startsWith('assembly/') && existsSync(root + name)
          ? readFileSync(root + name, 'utf8')
          : null;
      },
      writeFile: (name, contents) => {
        if (name === 'out.wasm') binary = new Uint8Array(contents as Uint8Array);
      },
      listFiles: () => null,
    },
  );
  if (error) throw new Error(`${error.message}\n${stderr}`);
  return new WebAssembly.Instance(new WebAssembly.Module(binary)).exports;
}
