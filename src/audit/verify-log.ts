// Checks an exported log against signed heads, without any server. The place of a line decides which sequence it must have and which
// hash it must be linked to; the first one that doesn't is named.
import {
  chainStart,
  checkpointText,
  headText,
  linkHash,
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
  await eachLine(path, (line) => walk.step(line));
  return walk.end();
}

/** What stands at the end of every entry's line: a comma, the member, 64 digits. */
const TAIL_START = ',"hash":"';
const TAIL_END = '"}';
const TAIL_LENGTH = TAIL_START.length + 64 + TAIL_END.length;
const CLOSING_BRACE = 0x7d;

class ChainWalk {
  readonly #heads: readonly AuditHead[];
  readonly #verifier: Verifier | undefined;
  /** Hashes by sequence: of several heads for one entry each is compared. */
  readonly #signed = new Map<number, string[]>();
  #previous: string;
  #first = 1;
  #next = 1;
  #forged = false;
  #problem: string | undefined;

  constructor(heads: readonly AuditHead[], verifier: Verifier | undefined) {
    this.#heads = heads;
    this.#verifier = verifier;
    this.#previous = chainStart(heads[0]?.account_id ?? '');
    for (const { sequence, hash } of heads) {
      this.#signed.set(sequence, [...(this.#signed.get(sequence) ?? []), hash]);
    }
  }

  signed({ kid, signature }: AuditHead | AuditCheckpoint, text: string): boolean {
    const valid = this.#verifier?.verify(kid, text, signature) ?? true;
    if (!valid) this.#forged = true;
    return valid;
  }

  /** False where the line is wrong. */
  step(line: Buffer): boolean {
    this.#problem = this.#begins(line) ? this.#checkpoint(line) : this.#entry(line);
    return this.#problem === undefined;
  }

  #begins(line: Buffer): boolean {
    return this.#next === 1 && this.#first === 1 && line.includes('"through_sequence":');
  }

  #checkpoint(line: Buffer): string | undefined {
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

  #entry(line: Buffer): string | undefined {
    const cut = line.length - TAIL_LENGTH;
    const tail = cut > 0 ? line.toString('latin1', cut) : '';
    if (!tail.startsWith(TAIL_START) || !tail.endsWith(TAIL_END)) return 'this is no entry';
    // The hashed bytes end where the hash begins: with the brace in the place of the comma.
    line[cut] = CLOSING_BRACE;
    const entry = line.subarray(0, cut + 1);
    const hash = linkHash(this.#previous, sha256Hex(entry));
    // Members are sorted, and the one behind `sequence` begins with a t.
    if (!entry.includes(`,"sequence":${this.#next},"t`, 0, 'latin1')) {
      return 'another entry stands in its place';
    }
    if (tail.slice(TAIL_START.length, -TAIL_END.length) !== hash) {
      return 'its content, its hash or what is before it was changed';
    }
    if (this.#signed.get(this.#next)?.some((one) => one !== hash)) return 'its hash is not the one that was signed';
    this.#previous = hash;
    this.#next += 1;
    return undefined;
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

function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    return undefined;
  }
}
