// The part of the WebAssembly JavaScript API that the core uses. TypeScript only ships it inside
// lib.dom, which would also declare `name`, `event`, `close` and hundreds of other globals that
// Node does not have.
type BufferSource = ArrayBufferView | ArrayBuffer;

declare namespace WebAssembly {
  type ImportExportKind = 'function' | 'global' | 'memory' | 'table';
  type ExportValue = ((...args: never) => unknown) | Global | Memory | Table;
  type Exports = Record<string, ExportValue>;
  type Imports = Record<string, Record<string, unknown>>;

  interface CompileOptions {
    builtins?: readonly string[];
    importedStringConstants?: string;
  }

  class Module {
    constructor(bytes: BufferSource, options?: CompileOptions);
    static exports(module: Module): { name: string; kind: ImportExportKind }[];
    static imports(module: Module): { module: string; name: string; kind: ImportExportKind }[];
    static customSections(module: Module, name: string): ArrayBuffer[];
  }

  class Instance {
    constructor(module: Module, imports?: Imports);
    readonly exports: Exports;
  }

  class Memory {
    constructor(descriptor: { initial: number; maximum?: number; shared?: boolean });
    readonly buffer: ArrayBuffer | SharedArrayBuffer;
    grow(pages: number): number;
  }

  class Table {
    constructor(descriptor: {
      element: 'anyfunc' | 'externref';
      initial: number;
      maximum?: number;
    });
    readonly length: number;
    get(index: number): unknown;
    set(index: number, value?: unknown): void;
    grow(by: number): number;
  }

  class Global {
    constructor(descriptor: { value: string; mutable?: boolean }, value?: unknown);
    value: unknown;
    valueOf(): unknown;
  }

  class CompileError extends Error {}
  class LinkError extends Error {}
  class RuntimeError extends Error {}

  function validate(bytes: BufferSource, options?: CompileOptions): boolean;
  function compile(bytes: BufferSource, options?: CompileOptions): Promise<Module>;
  function instantiate(module: Module, imports?: Imports): Promise<Instance>;
}
