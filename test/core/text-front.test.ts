import { beforeAll, describe, expect, it } from 'vitest';
import { SCRATCH_SIZE, sealText } from '../../src/core/front.ts';
import { textFront } from '../../src/core/wasm.generated.ts';
import { Random } from '../support/random.ts';
import { tagDue, tagRecorder } from '../support/tags.ts';

const SEALED = -2;
const WIDE = -3;

/** The engine's string builtins, spelled out, so that every engine runs the module that needs them. */
const STRING = {
  length: (text: string) => text.length,
  charCodeAt: (text: string, at: number) => text.charCodeAt(at),
};

interface TextFront {
  readonly GROUP: WebAssembly.Global;
  connect(group: number, ms: number): number;
  sealText(seat: number, text: string, place: number): number;
  peek(seat: number, length: number, number: number, ms: number, cost: number): number;
}

describe('the front with string builtins', () => {
  const random = new Random(8);
  let front: TextFront;
  let seat: number;
  let lastTag: () => bigint;

  beforeAll(async () => {
    const recorder = await tagRecorder();
    lastTag = recorder.lastTag;
    const memory = new WebAssembly.Memory({ initial: 1 });
    const table = new WebAssembly.Table({ element: 'anyfunc', initial: 64 });
    const module = new WebAssembly.Module(Buffer.from(textFront, 'base64'));
    const imports = { env: { memory, table }, 'wasm:js-string': STRING };
    front = new WebAssembly.Instance(module, imports).exports as unknown as TextFront;
    for (const [i, entry] of recorder.functions.entries()) {
      table.set(Number(front.GROUP.value) + i, entry);
    }
    seat = front.connect(1, 0);
  });

  it('gives every Latin-1 text the tag of its bytes', () => {
    const lengths = [...Array.from({ length: 70 }, (_, i) => i + 1), 1_000, SCRATCH_SIZE + 9];
    for (const length of lengths) {
      const units = Array.from({ length }, () => random.below(256));
      const text = units.map((unit) => String.fromCharCode(unit)).join('');
      expect(front.sealText(seat, text, 0)).toBe(SEALED);
      front.peek(seat, SEALED, 0, 0, 1);
      expect(lastTag(), `length ${length}`).toBe(tagDue(text));
    }
  });

  it('leaves text with a wider character alone, wherever it stands', () => {
    for (const length of [1, 7, 8, 9, 40]) {
      for (let place = 0; place < length; place++) {
        const units = Array.from({ length }, (_, i) => (i === place ? '\u0100' : 'a'));
        expect(front.sealText(seat, units.join(''), 0)).toBe(WIDE);
      }
    }
  });

  it('is the one in use exactly where the engine has the builtins', () => {
    const module = Buffer.from(textFront, 'base64');
    const compiled = new WebAssembly.Module(module, { builtins: ['js-string'] });
    const left = WebAssembly.Module.imports(compiled).filter(({ module }) => module !== 'env');
    expect(sealText === undefined).toBe(left.length > 0);
  });
});
