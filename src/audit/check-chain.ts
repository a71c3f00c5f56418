// Is the chain in the database still the one that was signed? Looked at before anything is added to it: whatever is sealed onto a
// chain that was cut or rewritten would make the forgery look like the truth.
import {
  chainStart,
  checkpointText,
  headText,
  type AuditCheckpoint,
  type AuditEntry,
  type AuditHead,
} from '../domain/audit-chain.ts';
import { sha256Hex } from '../domain/sha256.ts';
import type { Verifier } from '../signing/keys.ts';
import {
  chainTip,
  newestHead,
  readCheckpoint,
  readSealed,
  type SealedEntry,
} from '../store/audit-sealing.store.ts';
import type { Queryable } from '../store/pool.ts';

/** Where the next entry goes. */
export interface ChainEnd {
  /** Of the last entry; 0 where there is none. */
  readonly sequence: number;
  readonly hash: string;
}

export type CheckedChain =
  | { readonly ok: true; readonly end: ChainEnd; readonly head: AuditHead | undefined }
  /** A sentence. */
  | { readonly ok: false; readonly problem: string };

/** Compares the end of an account's chain with its newest signed head, and with the newest head outside of the database. */
export async function checkChain(
  db: Queryable,
  verifier: Verifier,
  accountId: string,
  exported: AuditHead | undefined,
): Promise<CheckedChain> {
  const [last, before] = await chainTip(db, accountId, 2);
  const checkpoint = await readCheckpoint(db, accountId);
  const head = await newestHead(db, accountId);
  const base = baseOf(accountId, checkpoint);
  const end = last ?? base;
  const problem =
    problemOfCheckpoint(verifier, checkpoint) ??
    problemOfHead(verifier, head, end) ??
    (last && problemOfLast(last, before ?? base)) ??
    (exported && (await problemOfExported(db, verifier, exported, end, base)));
  return problem === undefined ? { ok: true, end, head } : { ok: false, problem };
}

/** What the first entry that is there was linked to. */
function baseOf(accountId: string, checkpoint: AuditCheckpoint | undefined): ChainEnd {
  if (!checkpoint) return { sequence: 0, hash: chainStart(accountId) };
  return { sequence: checkpoint.through_sequence, hash: checkpoint.hash };
}

function problemOfCheckpoint(
  verifier: Verifier,
  checkpoint: AuditCheckpoint | undefined,
): string | undefined {
  if (!checkpoint) return undefined;
  const { kid, signature } = checkpoint;
  if (verifier.verify(kid, checkpointText(checkpoint), signature)) return undefined;
  return 'the signature of the checkpoint is not one of the known keys';
}

function problemOfHead(
  verifier: Verifier,
  head: AuditHead | undefined,
  end: ChainEnd,
): string | undefined {
  if (!head) return end.sequence === 0 ? undefined : 'there are sealed entries and no signed head';
  if (!verifier.verify(head.kid, headText(head), head.signature)) {
    return `the signature of head ${head.sequence} is not one of the known keys`;
  }
  if (head.sequence === end.sequence && head.hash === end.hash) return undefined;
  return `the newest head is of entry ${head.sequence} and the chain ends with entry ${end.sequence}, or their hashes differ`;
}

function problemOfLast(last: SealedEntry, before: ChainEnd): string | undefined {
  const follows = sha256Hex(last.entry) === last.hash && last.sequence === before.sequence + 1;
  const told = follows ? (JSON.parse(last.entry) as AuditEntry) : undefined;
  if (told?.after === before.hash && told.sequence === last.sequence) return undefined;
  return `entry ${last.sequence} does not follow from what is before it`;
}

async function problemOfExported(
  db: Queryable,
  verifier: Verifier,
  exported: AuditHead,
  end: ChainEnd,
  base: ChainEnd,
): Promise<string | undefined> {
  const { account_id: accountId, sequence, hash } = exported;
  if (!verifier.verify(exported.kid, headText(exported), exported.signature)) {
    return `the signature of exported head ${sequence} is not one of the known keys`;
  }
  if (sequence > end.sequence) {
    return `entry ${sequence} was sealed and exported, and the chain ends with entry ${end.sequence}`;
  }
  // What retention has removed can't be compared; the checkpoint is signed.
  if (sequence < base.sequence) return undefined;
  const there =
    sequence === base.sequence ? base : (await readSealed(db, accountId, sequence - 1, 1))[0];
  if (there?.hash === hash) return undefined;
  return `entry ${sequence} is not the one whose head was exported`;
}
