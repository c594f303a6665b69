import { beforeAll, describe, expect, it } from 'vitest';
import { SCRATCH_SIZE, sealText } from '../../src/core/front.ts';
import { textFront } from '../../src/core/wasm.generated.ts';
import { Random } from '../support/random.ts';
import { tagDue, tagRecorder } from '../support/tags.ts';

const NUMBER = -1;
const SEALED = -2;

/** The engine's string builtins, spelled out, so that every engine runs the module that needs them. */
const STRING = {
  length: (text: string) => text.length,
  charCodeAt: (text: string, at: number) => text.charCodeAt(at),
};

interface TextFront {
  readonly GROUP: WebAssembly.Global;
  connect(group: number, ms: number): number;
  sealText(seat: number, text: string, place: number): void;
  isAllowedText(seat: number, text: string, ms: number, cost: number): number;
  tryAcquireText(seat: number, text: string, ms: number, cost: number): number;
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

  /** Each function that takes a text must come to the table with the tag that is due. */
  function expectTag(text: string): void {
    front.sealText(seat, text, 0);
    front.peek(seat, SEALED, 0, 0, 1);
    expect(lastTag(), text).toBe(tagDue(text));
    front.isAllowedText(seat, text, 0, 1);
    expect(lastTag(), text).toBe(tagDue(text));
    front.peek(seat, NUMBER, 1, 0, 1);
    expect(lastTag()).toBe(tagDue(1));
    front.tryAcquireText(seat, text, 0, 1);
    expect(lastTag(), text).toBe(tagDue(text));
  }

  it.each([
    ['Latin-1 text', 256],
    ['any text', 65_536],
  ])('gives %s the tag of its bytes', (_, units) => {
    const lengths = Array.from({ length: 100 }, (__, i) => i + 1);
    for (const length of [...lengths, 1_000, SCRATCH_SIZE / 2])
      expectTag(random.text(length, units));
  });

  it('sees a wider character wherever it stands', () => {
    for (const length of [1, 7, 8, 9, 40]) {
      for (let place = 0; place < length; place++) {
        const units = Array.from({ length }, (_, i) => (i === place ? '\u0100' : 'a'));
        expectTag(units.join(''));
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
