/** What the tests want to know of a WebAssembly binary, and its JavaScript API does not tell. */
export interface WasmModule {
  /** Value types of each exported function, parameters and results, such as `i32 f64 -> i64`. */
  readonly signatures: ReadonlyMap<string, string>;
  /** Whether each global can change, in the order of the binary. */
  readonly globals: readonly { readonly mutable: boolean }[];
  readonly hasStart: boolean;
  readonly dataSegments: number;
  readonly elementSegments: number;
  readonly definesMemory: boolean;
  readonly definesTable: boolean;
}

// See "Binary Format" in the WebAssembly core specification.
const SECTION = { type: 1, import: 2, function: 3, table: 4, memory: 5, global: 6, export: 7 };
const LATER_SECTION = { start: 8, element: 9, data: 11 };
const VALUE_TYPES: Record<number, string> = {
  127: 'i32',
  126: 'i64',
  125: 'f32',
  124: 'f64',
  123: 'v128',
  112: 'funcref',
  111: 'externref',
};

class Reader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  get ended(): boolean {
    return this.at >= this.#bytes.length;
  }

  byte(): number {
    return this.#bytes[this.at++] ?? 0;
  }

  /** A LEB128 number, unsigned; a signed one is only ever skipped. */
  number(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  part(length: number): Uint8Array {
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  name(): string {
    return new TextDecoder().decode(this.part(this.number()));
  }

  list<T>(item: () => T): T[] {
    return Array.from({ length: this.number() }, item);
  }

  limits(): void {
    const flags = this.byte();
    this.number();
    if (flags & 1) this.number();
  }

  /** A constant expression, such as a global's first value. */
  skipConstant(): void {
    for (let code = this.byte(); code !== 0x0b; code = this.byte()) {
      if (code === 0x43) this.part(4);
      else if (code === 0x44) this.part(8);
      else this.number();
    }
  }
}

function sectionsOf(bytes: Uint8Array): Map<number, Uint8Array> {
  const sections = new Map<number, Uint8Array>();
  const reader = new Reader(bytes, 8);
  while (!reader.ended) sections.set(reader.byte(), reader.part(reader.number()));
  return sections;
}

export function parseWasm(bytes: Uint8Array): WasmModule {
  const sections = sectionsOf(bytes);
  const read = <T>(section: number, item: (reader: Reader) => T): T[] => {
    const content = sections.get(section);
    if (content === undefined) return [];
    const reader = new Reader(content);
    return reader.list(() => item(reader));
  };
  const count = (section: number) => {
    const content = sections.get(section);
    return content === undefined ? 0 : new Reader(content).number();
  };
  const types = read(SECTION.type, (reader) => {
    reader.byte();
    const [parameters = [], results = []] = [0, 1].map(() =>
      reader.list(() => VALUE_TYPES[reader.byte()] ?? 'unknown'),
    );
    return [...parameters, '->', ...results].join(' ');
  });
  const importedFunctions = read(SECTION.import, (reader) => {
    reader.name();
    reader.name();
    const kind = reader.byte();
    if (kind === 0) return reader.number();
    if (kind === 1) reader.byte();
    if (kind === 3) reader.part(2);
    else reader.limits();
    return undefined;
  }).filter((type) => type !== undefined);
  const functions = [...importedFunctions, ...read(SECTION.function, (reader) => reader.number())];
  const globals = read(SECTION.global, (reader) => {
    reader.byte();
    const mutable = reader.byte() === 1;
    reader.skipConstant();
    return { mutable };
  });
  const exports = read(SECTION.export, (reader) => {
    const name = reader.name();
    return { name, isFunction: reader.byte() === 0, index: reader.number() };
  });
  return {
    signatures: new Map(
      exports
        .filter(({ isFunction }) => isFunction)
        .map(({ name, index }) => [name, types[functions[index] ?? -1] ?? 'unknown']),
    ),
    globals,
    hasStart: sections.has(LATER_SECTION.start),
    dataSegments: count(LATER_SECTION.data),
    elementSegments: count(LATER_SECTION.element),
    definesMemory: count(SECTION.memory) > 0,
    definesTable: count(SECTION.table) > 0,
  };
}
