// Reads a request body so that nobody can see another document in the same bytes (the public contract, "Strict JSON").
// The engine's own parser judges the grammar of RFC 8259; a scan over the text, known to be JSON by then, finds what that
// parser loses without a word: equal names, changed numbers, lone surrogates.
import { canonicalDecimal } from './decimal-literal.ts';

/** Any JSON value. `parseStrictJson` never gives null; documents that we write ourselves may hold it. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object; every member name is data, `__proto__` among them. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** The value, or a sentence for the caller and the JSON Pointer (RFC 6901) of what was refused, where there is one. */
export type StrictJsonResult =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly detail: string; readonly pointer?: string };

/** Commands are flat; 64 leaves room for any sane body and keeps every recursive reader after us off the stack's end. */
export const MAX_JSON_DEPTH = 64;

const BYTE_ORDER_MARK = '\ufeff';
const LONE_SURROGATE = /\p{Surrogate}/u;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Parses a whole request body. Its size is the caller's business: it has to be checked before the bytes are kept. */
export function parseStrictJson(bytes: Uint8Array): StrictJsonResult {
  const text = decodeUtf8(bytes);
  if (text === undefined) return refuse('The body is not valid UTF-8.');
  if (text === '') return refuse('The body is empty; a JSON object is expected.');
  // RFC 8259 section 8.1 lets a parser ignore the mark; refusing it leaves one byte sequence fewer for one document.
  if (text.startsWith(BYTE_ORDER_MARK)) return refuse('The body starts with a byte order mark.');
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    // The engine's message differs between versions and quotes the body, which may hold what must not be logged.
    return refuse('The body is not JSON (RFC 8259).');
  }
  return new LossScan(text).run() ?? { ok: true, value };
}

type Refusal = Extract<StrictJsonResult, { ok: false }>;

function refuse(detail: string, pointer?: string): Refusal {
  return pointer === undefined ? { ok: false, detail } : { ok: false, detail, pointer };
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** An array or object that is open: where the scan is inside it, and the names an object has had so far. */
interface Frame {
  step: string | number;
  readonly names: Set<string> | undefined;
  awaitsName: boolean;
}

/** One pass over a text that is known to be JSON; without that knowledge its shortcuts would not hold. */
class LossScan {
  readonly #text: string;
  readonly #open: Frame[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): Refusal | undefined {
    while (this.#at < this.#text.length) {
      const refusal = this.#token(this.#text.charAt(this.#at));
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  #token(first: string): Refusal | undefined {
    if (first === '"') return this.#string();
    if (first === '-' || (first >= '0' && first <= '9')) return this.#number();
    if (first === 'n') return this.#refuse('null is not accepted; leave the member out.');
    this.#at += 1;
    if (first === '{' || first === '[') return this.#enter(first === '{');
    if (first === '}' || first === ']') this.#open.pop();
    else if (first === ',') this.#nextElement();
    return undefined;
  }

  #enter(isObject: boolean): Refusal | undefined {
    if (this.#open.length >= MAX_JSON_DEPTH) {
      return this.#refuse(`The body is nested deeper than ${MAX_JSON_DEPTH} levels.`);
    }
    this.#open.push(
      isObject
        ? { step: '', names: new Set(), awaitsName: true }
        : { step: 0, names: undefined, awaitsName: false },
    );
    return undefined;
  }

  #nextElement(): void {
    const frame = this.#open.at(-1);
    if (frame === undefined) return;
    if (typeof frame.step === 'number') frame.step += 1;
    else frame.awaitsName = true;
  }

  #string(): Refusal | undefined {
    const end = this.#endOfString();
    const literal = this.#text.slice(this.#at, end);
    const content = unescaped(literal);
    this.#at = end;
    const frame = this.#open.at(-1);
    const isName = frame?.awaitsName === true;
    const fault = textFault(content);
    if (fault === undefined) return isName ? this.#name(frame, content) : undefined;
    // A name that is refused for its characters can't be written into a pointer: that one names its object.
    return refuse(fault, pointerTo(isName ? this.#open.slice(0, -1) : this.#open));
  }

  #name(frame: Frame, name: string): Refusal | undefined {
    const isRepeated = frame.names?.has(name) === true;
    frame.step = name;
    frame.awaitsName = false;
    frame.names?.add(name);
    return isRepeated
      ? this.#refuse('A member name occurs twice in one object (RFC 7493 section 2.3).')
      : undefined;
  }

  /** The place after the closing quote, which is the first one with an even number of backslashes before it. */
  #endOfString(): number {
    let quote = this.#text.indexOf('"', this.#at + 1);
    while (this.#isEscaped(quote)) quote = this.#text.indexOf('"', quote + 1);
    return quote + 1;
  }

  #isEscaped(place: number): boolean {
    let backslashes = 0;
    while (this.#text.charAt(place - 1 - backslashes) === '\\') backslashes += 1;
    return backslashes % 2 === 1;
  }

  #number(): Refusal | undefined {
    NUMBER.lastIndex = this.#at;
    const literal = NUMBER.exec(this.#text)?.[0] ?? '';
    this.#at += literal.length;
    return survivesAsDouble(literal)
      ? undefined
      : this.#refuse('A number changes its value when read as an IEEE 754 double.');
  }

  #refuse(detail: string): Refusal {
    return refuse(detail, pointerTo(this.#open));
  }
}

function textFault(content: string): string | undefined {
  if (LONE_SURROGATE.test(content)) {
    return 'A text holds half a surrogate pair (RFC 8785 section 3.2.2.2).';
  }
  return content.includes('\0') ? 'A text holds the character U+0000.' : undefined;
}

function unescaped(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1);
  const content: string = JSON.parse(literal);
  return content;
}

/** RFC 6901 section 3: `~` and `/` are escaped inside a step. */
function pointerTo(path: readonly Frame[]): string {
  return path
    .map(({ step }) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

/** RFC 8785 section 3.2.2.3 writes a number as ECMAScript's `String` does; only the value has to stay, not the spelling. */
function survivesAsDouble(literal: string): boolean {
  const value = Number(literal);
  const written = String(value);
  if (written === literal) return true;
  return Number.isFinite(value) && canonicalDecimal(literal) === canonicalDecimal(written);
}
