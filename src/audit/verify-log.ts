// Checks an exported log against signed heads, without any server. The place of a line decides which sequence it must have and which
// hash it must be linked to; the first one that doesn't is named. Members are looked for in the text: parsing each line would take
// several times as long as hashing it, and what was hashed is as the sealer wrote it.
import {
  batchHash,
  chainStart,
  checkpointText,
  headText,
  type AuditCheckpoint,
  type AuditHead,
} from '../domain/audit-chain.ts';
import { sha256Hex } from '../domain/sha256.ts';
import type { Verifier } from '../signing/keys.ts';
import { eachLine } from './line-reader.ts';

export interface LogReport {
  readonly ok: boolean;
  /** Sequence of the first entry that is wrong or missing; null where no entry is to blame. */
  readonly first_bad: number | null;
  /** A sentence; null where all is well. */
  readonly reason: string | null;
  /** Entries that were found in order. */
  readonly entries: number;
  /** Those behind the newest head: linked, and not signed yet. */
  readonly unsigned: number;
  /** `unchecked` where no public keys were at hand: then the head is believed as it was given. */
  readonly signatures: 'valid' | 'invalid' | 'unchecked';
}

/** `heads` in the order of their sequences, at least one. Without a verifier signatures are not checked. */
export async function verifyLog(
  path: string,
  heads: readonly AuditHead[],
  verifier: Verifier | undefined,
): Promise<LogReport> {
  const walk = new ChainWalk(heads, verifier);
  const forged = heads.find((head) => !walk.signed(head, headText(head)));
  if (forged) return walk.report(null, `the signature of head ${forged.sequence} is not valid`);
  await eachLine(path, (bytes, text, start, end) => walk.step(bytes, text, start, end));
  return walk.end();
}

/** What stands at the end of every entry's line: a comma, the member, 64 digits. */
const TAIL_START = ',"hash":"';
const TAIL_END = '"}';
const TAIL_LENGTH = TAIL_START.length + 64 + TAIL_END.length;
const CLOSING_BRACE = 0x7d;
/** `sequence` and what is sorted behind it take less than this. */
const LAST_MEMBERS = 128;

class ChainWalk {
  readonly #heads: readonly AuditHead[];
  readonly #verifier: Verifier | undefined;
  /** What each entry begins with, up to the hash of the one before. */
  readonly #beginning: string;
  readonly #beginnings: ReadonlySet<number>;
  /** By the entry that they are of; several may be of one. */
  readonly #endings = new Map<number, AuditHead[]>();
  /** What is being collected for the next head. */
  #batch: { readonly first: number; readonly hashes: string[] } | undefined;
  #previous: string;
  #first = 1;
  #next = 1;
  #forged = false;
  #problem: string | undefined;

  constructor(heads: readonly AuditHead[], verifier: Verifier | undefined) {
    this.#heads = heads;
    this.#verifier = verifier;
    const account = heads[0]?.account_id ?? '';
    this.#previous = chainStart(account);
    this.#beginning = `{"account_id":"${account}","after":"`;
    this.#beginnings = new Set(heads.map(({ first }) => first));
    for (const head of heads) {
      this.#endings.set(head.sequence, [...(this.#endings.get(head.sequence) ?? []), head]);
    }
  }

  signed({ kid, signature }: AuditHead | AuditCheckpoint, text: string): boolean {
    const valid = this.#verifier?.verify(kid, text, signature) ?? true;
    if (!valid) this.#forged = true;
    return valid;
  }

  /** False where the line is wrong. */
  step(bytes: Buffer, text: string, start: number, end: number): boolean {
    const begins = this.#next === 1 && this.#first === 1;
    const first = begins ? bytes.toString('utf8', start, end) : '';
    this.#problem = first.includes('"through_sequence":')
      ? this.#checkpoint(first)
      : this.#entry(bytes, text, start, end);
    return this.#problem === undefined;
  }

  #checkpoint(line: string): string | undefined {
    const checkpoint = parsed(line) as AuditCheckpoint | undefined;
    const isOne = Number.isInteger(checkpoint?.through_sequence);
    if (!checkpoint || !isOne || checkpoint.account_id !== this.#heads[0]?.account_id) {
      return 'the first line is no checkpoint of this account';
    }
    if (!this.signed(checkpoint, checkpointText(checkpoint))) {
      return 'the signature of the checkpoint is not valid';
    }
    this.#previous = checkpoint.hash;
    this.#first = checkpoint.through_sequence + 1;
    this.#next = this.#first;
    return undefined;
  }

  #entry(bytes: Buffer, text: string, start: number, end: number): string | undefined {
    const cut = end - TAIL_LENGTH;
    const told = cut + TAIL_START.length;
    const isEntry =
      cut > start &&
      text.slice(cut, told) === TAIL_START &&
      text.slice(end - TAIL_END.length, end) === TAIL_END;
    if (!isEntry) return 'this is no entry';
    // The hashed bytes end where the hash begins: with the brace in the place of the comma.
    bytes[cut] = CLOSING_BRACE;
    const hash = sha256Hex(bytes.subarray(start, cut + 1));
    if (text.slice(told, told + hash.length) !== hash) {
      return 'its content or its hash was changed';
    }
    const after = start + this.#beginning.length;
    if (
      text.slice(start, after) !== this.#beginning ||
      text.slice(after, after + hash.length) !== this.#previous
    ) {
      return 'it does not follow from the entry before';
    }
    if (!this.#isNumbered(text, start, cut)) return 'it has the number of another place';
    if (!this.#isAsSigned(hash)) return 'it is not what was signed';
    this.#previous = hash;
    this.#next += 1;
    return undefined;
  }

  /** Members are sorted: `sequence` stands near the end, and the name behind it begins with a t. */
  #isNumbered(text: string, start: number, cut: number): boolean {
    const from = Math.max(start, cut - LAST_MEMBERS);
    const at = text.indexOf(`,"sequence":${this.#next},"t`, from);
    return at !== -1 && at < cut;
  }

  /** Compares with every head that is of this entry, its batch included. */
  #isAsSigned(hash: string): boolean {
    if (this.#beginnings.has(this.#next)) this.#batch = { first: this.#next, hashes: [] };
    this.#batch?.hashes.push(hash);
    const heads = this.#endings.get(this.#next);
    if (!heads) return true;
    const { first, hashes } = this.#batch ?? { first: 0, hashes: [] };
    this.#batch = undefined;
    return heads.every(
      (head) =>
        head.hash === hash &&
        // Of a batch that retention has cut nothing is left to compare.
        (head.first < this.#first || (head.first === first && batchHash(hashes) === head.batch)),
    );
  }

  end(): LogReport {
    if (this.#problem !== undefined) return this.report(this.#next, this.#problem);
    const last = this.#heads.at(-1)?.sequence ?? 0;
    if (this.#next > last) return this.report(null, null);
    return this.report(this.#next, `the log ends before entry ${last}, which the head names`);
  }

  report(firstBad: number | null, reason: string | null): LogReport {
    const last = this.#heads.at(-1)?.sequence ?? 0;
    const signatures = this.#forged ? 'invalid' : 'valid';
    return {
      ok: reason === null,
      first_bad: firstBad,
      reason,
      entries: this.#next - this.#first,
      unsigned: Math.max(0, this.#next - 1 - last),
      signatures: this.#verifier ? signatures : 'unchecked',
    };
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
