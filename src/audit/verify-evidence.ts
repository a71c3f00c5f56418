// Checks an evidence bundle without any server: its entries are in signed heads, and they are of the operation that it is about.
import { batchHash, headText, type AuditEntry, type AuditHead } from '../domain/audit-chain.ts';
import type { EvidenceBundle, InclusionProof } from '../domain/evidence-bundle.ts';
import { sha256Hex } from '../domain/sha256.ts';
import type { Verifier } from '../signing/keys.ts';

export interface EvidenceReport {
  /** True where every entry is proven and row and audit say the same. */
  readonly ok: boolean;
  /** Sequence of the first entry that is not proven; null where none is to blame. */
  readonly first_bad: number | null;
  readonly reason: string | null;
  readonly entries: number;
  /** Events that the bundle leaves out, because they were not sealed yet. */
  readonly unsealed: number;
  /** As the bundle says; not proven by it. */
  readonly disagreements: readonly string[];
  readonly signatures: 'valid' | 'invalid' | 'unchecked';
}

/** Without a verifier signatures are not checked. */
export function verifyEvidence(
  bundle: EvidenceBundle,
  verifier: Verifier | undefined,
): EvidenceReport {
  const isSigned = ({ head }: InclusionProof): boolean => signedBy(verifier, head);
  const forged = bundle.proofs.find((proof) => !isSigned(proof));
  const broken = bundle.proofs.find((proof) => !isOfHead(bundle, proof));
  const bad = bundle.entries.findIndex((line) => !isProven(bundle, line));
  const problem =
    (forged && `the signature of head ${forged.head.sequence} is not valid`) ??
    (broken && `the hashes are not those of head ${broken.head.sequence}`) ??
    (bad === -1 ? undefined : 'an entry is not proven, or of another operation') ??
    (bundle.consistent ? undefined : `row and audit disagree: ${bundle.disagreements.join('; ')}`);
  const signatures = forged ? 'invalid' : 'valid';
  return {
    ok: problem === undefined,
    first_bad: bad === -1 ? null : sequenceOf(bundle.entries[bad] ?? ''),
    reason: problem ?? null,
    entries: bundle.entries.length,
    unsealed: bundle.unsealed,
    disagreements: bundle.disagreements,
    signatures: verifier ? signatures : 'unchecked',
  };
}

function signedBy(verifier: Verifier | undefined, head: AuditHead): boolean {
  return verifier?.verify(head.kid, headText(head), head.signature) ?? true;
}

function isOfHead({ operation }: EvidenceBundle, { hashes, head }: InclusionProof): boolean {
  const { account_id: account, first, sequence, hash, batch } = head;
  const counts = hashes.length === sequence - first + 1 && hashes.at(-1) === hash;
  return account === operation.account_id && counts && batchHash(hashes) === batch;
}

function isProven({ operation, proofs }: EvidenceBundle, line: string): boolean {
  const entry = entryIn(line);
  const told = parsed(entry);
  if (!told || told.operation_id !== operation.operation_id) return false;
  const { sequence } = told;
  const proof = proofs.find(({ head }) => head.first <= sequence && sequence <= head.sequence);
  return proof?.hashes[sequence - proof.head.first] === sha256Hex(entry);
}

/** The hashed bytes of a line. */
const entryIn = (line: string): string => line.replace(/,"hash":"[0-9a-f]{64}"\}$/, '}');

const sequenceOf = (line: string): number | null => parsed(entryIn(line))?.sequence ?? null;

function parsed(entry: string): AuditEntry | undefined {
  try {
    return JSON.parse(entry) as AuditEntry;
  } catch {
    return undefined;
  }
}
