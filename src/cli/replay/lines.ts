import { StringDecoder } from 'node:string_decoder';
import type { LineParser, LineSink } from './formats/format.ts';

/** A longer line is broken, so that junk without a line break takes no memory. */
const LONGEST_LINE = 1024 * 1024;
const CARRIAGE_RETURN = 13;
const BYTE_ORDER_MARK = { utf8: '\ufeff', latin1: '\u00ef\u00bb\u00bf' };

/** Hands every line that is not blank to the parser. Text is cut into lines in place: nothing is copied for a line. */
export class LineCutter {
  readonly #parser: LineParser;
  readonly #sink: LineSink;
  readonly #decoder: StringDecoder;
  #carry = '';
  #number = 1;
  /** Inside a line that was too long. */
  #isSkipping = false;
  #isStart = true;

  constructor(parser: LineParser, sink: LineSink) {
    this.#parser = parser;
    this.#sink = sink;
    this.#decoder = new StringDecoder(parser.encoding);
  }

  /** Lines begun so far. */
  get lines(): number {
    return this.#number - 1;
  }

  add(chunk: Buffer): void {
    this.#cut(this.#decoder.write(chunk));
  }

  /** The last line may have no line break. */
  end(): void {
    this.#cut(this.#decoder.end());
    if (this.#carry === '' && !this.#isSkipping) return;
    const rest = this.#carry;
    this.#carry = '';
    if (!this.#isSkipping) this.#line(rest, 0, rest.length);
    this.#number += 1;
  }

  #cut(decoded: string): void {
    let text = this.#carry + decoded;
    if (this.#isStart && text !== '') {
      const mark = BYTE_ORDER_MARK[this.#parser.encoding];
      if (text.startsWith(mark)) text = text.slice(mark.length);
      this.#isStart = false;
    }
    let from = 0;
    for (let to = text.indexOf('\n'); to >= 0; to = text.indexOf('\n', from)) {
      if (this.#isSkipping) this.#isSkipping = false;
      else this.#line(text, from, to);
      this.#number += 1;
      from = to + 1;
    }
    this.#carry = this.#isSkipping ? '' : text.slice(from);
    if (this.#carry.length <= LONGEST_LINE) return;
    this.#sink.broken(this.#number, 'longer than 1 MiB');
    this.#carry = '';
    this.#isSkipping = true;
  }

  #line(text: string, from: number, to: number): void {
    const end = text.charCodeAt(to - 1) === CARRIAGE_RETURN ? to - 1 : to;
    if (end > from) this.#parser.line(text, from, end, this.#number);
  }
}
