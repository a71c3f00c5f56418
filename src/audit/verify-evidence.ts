// Checks an evidence bundle without any server. Its entries are in signed heads, in order and of its operation; then they are what its
// other members are compared with, by the same rules as on the server. What the bundle says about itself is never taken for a proof.
import {
  batchHash,
  checkpointText,
  headText,
  type AuditEntry,
  type AuditHead,
} from '../domain/audit-chain.ts';
import type { EvidenceBundle, InclusionProof, JudgedRows } from '../domain/evidence-bundle.ts';
import { areSigned, disagreementsOnDecisions } from '../domain/evidence-decisions.ts';
import { disagreementsOf, isOwnClaim } from '../domain/evidence-disagreements.ts';
import { sha256Hex } from '../domain/sha256.ts';
import type { Verifier } from '../signing/keys.ts';

type Signatures = 'valid' | 'invalid' | 'unchecked';

export interface EvidenceReport {
  /** True where the verdict is `proven`. */
  readonly ok: boolean;
  /** `unproven`: nothing is wrong with what could be checked, and something could not; `reason` says what helps. */
  readonly verdict: 'proven' | 'refuted' | 'unproven';
  /** Sequence of the first entry that is not proven; null where none is to blame. */
  readonly first_bad: number | null;
  /** A sentence; null where all is proven. */
  readonly reason: string | null;
  readonly entries: number;
  /** Events that the bundle leaves out, because they were not sealed yet. */
  readonly unsealed: number;
  /** Found here by comparing, and those that the server had found. */
  readonly disagreements: readonly string[];
  /** Of heads and checkpoint. */
  readonly signatures: Signatures;
  /** Of what people decided; `none` where nobody did. */
  readonly decision_signatures: Signatures | 'none';
}

/** Whose signatures are checked; those of a key folder that is not at hand are not, and then nothing is proven. */
export interface EvidenceKeys {
  readonly heads: Signatories | undefined;
  readonly desk: Signatories | undefined;
}

type Signatories = Pick<Verifier, 'verify'>;

export function verifyEvidence(bundle: EvidenceBundle, keys: EvidenceKeys): EvidenceReport {
  const forged = forgedIn(bundle, keys.heads);
  const bad = badEntryIn(bundle);
  const disagreements = disagreementsIn(bundle, keys.desk, bad === undefined);
  const decisions = decisionSignaturesIn(bundle, keys.desk);
  const wrong =
    forged ??
    brokenProofIn(bundle) ??
    bad?.reason ??
    (disagreements.length > 0
      ? `it does not fit together: ${disagreements.join('; ')}`
      : undefined);
  const open = openIn(bundle, keys, decisions);
  const sound = open === undefined ? 'proven' : 'unproven';
  const verdict = wrong === undefined ? sound : 'refuted';
  return {
    ok: verdict === 'proven',
    verdict,
    first_bad: bad?.sequence ?? null,
    reason: wrong ?? open ?? null,
    entries: bundle.entries.length,
    unsealed: bundle.unsealed,
    disagreements,
    signatures: keys.heads ? (forged === undefined ? 'valid' : 'invalid') : 'unchecked',
    decision_signatures: decisions,
  };
}

function forgedIn(
  { proofs, checkpoint }: EvidenceBundle,
  verifier: Signatories | undefined,
): string | undefined {
  if (!verifier) return undefined;
  const isSigned = (head: AuditHead) => verifier.verify(head.kid, headText(head), head.signature);
  const forged = proofs.find(({ head }) => !isSigned(head));
  if (forged) return `the signature of head ${forged.head.sequence} is not valid`;
  const isMarked =
    !checkpoint ||
    verifier.verify(checkpoint.kid, checkpointText(checkpoint), checkpoint.signature);
  return isMarked ? undefined : 'the signature of the checkpoint is not valid';
}

function brokenProofIn(bundle: EvidenceBundle): string | undefined {
  const { operation, proofs, checkpoint } = bundle;
  const broken = proofs.find((proof) => !isOfHead(bundle, proof));
  if (broken) return `the hashes are not those of head ${broken.head.sequence}`;
  const isForeign = checkpoint && checkpoint.account_id !== operation.account_id;
  return isForeign ? 'the checkpoint is of another account' : undefined;
}

function isOfHead({ operation }: EvidenceBundle, { hashes, head }: InclusionProof): boolean {
  const { account_id: account, first, sequence, hash, batch } = head;
  const counts = hashes.length === sequence - first + 1 && hashes.at(-1) === hash;
  return account === operation.account_id && counts && batchHash(hashes) === batch;
}

interface BadEntry {
  readonly sequence: number | null;
  readonly reason: string;
}

/** In order, because the last of them say what became of the operation; behind the checkpoint, because nothing is left before it. */
function badEntryIn(bundle: EvidenceBundle): BadEntry | undefined {
  let after = bundle.checkpoint?.through_sequence ?? 0;
  for (const line of bundle.entries) {
    const entry = entryIn(line) ?? '';
    const told = parsed(entry);
    const sequence = told?.sequence ?? null;
    if (!told || !Number.isSafeInteger(told.sequence) || !isProven(bundle, entry, told)) {
      return { sequence, reason: 'an entry is not proven' };
    }
    if (!isOfOperation(bundle, told)) {
      return { sequence, reason: 'an entry is of another operation or account' };
    }
    if (told.sequence <= after) return { sequence, reason: 'an entry is not in its place' };
    after = told.sequence;
  }
  return undefined;
}

function isProven({ proofs }: EvidenceBundle, entry: string, { sequence }: AuditEntry): boolean {
  const proof = proofs.find(({ head }) => head.first <= sequence && sequence <= head.sequence);
  return proof?.hashes[sequence - proof.head.first] === sha256Hex(entry);
}

const isOfOperation = ({ operation }: EvidenceBundle, told: AuditEntry): boolean =>
  told.operation_id === operation.operation_id && told.account_id === operation.account_id;

const LINE = /^(?<start>.*),"hash":"(?<hash>[0-9a-f]{64})"\}$/s;

/** The hashed bytes of a line; undefined where they do not have the hash that it names. */
function entryIn(line: string): string | undefined {
  const found = LINE.exec(line)?.groups;
  if (!found) return undefined;
  const entry = `${found['start']}}`;
  return sha256Hex(entry) === found['hash'] ? entry : undefined;
}

function parsed(entry: string): AuditEntry | undefined {
  try {
    return JSON.parse(entry) as AuditEntry;
  } catch {
    return undefined;
  }
}

/** What is missing from the entries says nothing while some of them are not sealed, and bad ones say nothing at all. */
function disagreementsIn(
  bundle: EvidenceBundle,
  desk: Signatories | undefined,
  areProven: boolean,
): string[] {
  const rows = rowsOf(bundle);
  const events = areProven && bundle.unsealed === 0 ? eventsIn(bundle) : undefined;
  const own = bundle.consistent ? [] : ['the server found that row and audit disagree'];
  const found = [
    ...(bundle.disagreements.length > 0 ? bundle.disagreements : own),
    ...(events ? disagreementsOf(rows, events, bundle.checkpoint !== null) : []),
    ...disagreementsOnDecisions(rows, desk),
  ];
  return [...new Set(found)];
}

const rowsOf = ({ operation, approvals }: EvidenceBundle): JudgedRows => ({
  row: operation,
  approvals,
});

const eventsIn = ({ entries }: EvidenceBundle): AuditEntry[] =>
  entries.flatMap((line) => parsed(entryIn(line) ?? '') ?? []);

function decisionSignaturesIn(
  bundle: EvidenceBundle,
  desk: Signatories | undefined,
): EvidenceReport['decision_signatures'] {
  if (bundle.approvals.every(({ votes }) => votes.length === 0)) return 'none';
  if (!desk) return 'unchecked';
  return areSigned(rowsOf(bundle), desk) ? 'valid' : 'invalid';
}

/** What keeps a bundle in which nothing is wrong from proving anything, and what to do about it. */
function openIn(
  bundle: EvidenceBundle,
  keys: EvidenceKeys,
  decisions: EvidenceReport['decision_signatures'],
): string | undefined {
  const { unsealed } = bundle;
  if (unsealed > 0) {
    return `${unsealed} of its events are not sealed yet, and nothing proves those: ask again for the bundle`;
  }
  if (!eventsIn(bundle).some(isOwnClaim)) {
    return 'retention has removed its claim from the audit, so what was claimed is not proven';
  }
  if (!keys.heads) {
    return 'signatures of heads were not checked: name the folder of the public keys with --public-keys';
  }
  return decisions === 'unchecked'
    ? 'signatures of decisions were not checked: name the folder of the public keys of the desk with --desk-keys'
    : undefined;
}
