// The form of the audit chain: what of an event is hashed, how one entry follows another, what a head signs. The same rules stand in
// docs/audit.md and in tools/verify_audit.py, which shares no code with this file.
import { canonicalJson } from './canonical-json.ts';
import { sha256Hex } from './sha256.ts';
import type { JsonObject } from './strict-json.ts';

/** What an event tells, sealed or not; null where it has no such member. */
export interface AuditRecord {
  readonly type: string;
  readonly operationId: string | null;
  /** RFC 3339. */
  readonly at: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly principal: string | null;
  readonly agentRun: string | null;
  readonly route: string | null;
  readonly key: string | null;
  readonly fingerprint: string | null;
  readonly responseHash: string | null;
  readonly providerReference: string | null;
  readonly detail: Readonly<Record<string, unknown>> | null;
}

/** A chain up to an entry, signed. */
export interface AuditHead {
  readonly v: 1;
  readonly account_id: string;
  readonly sequence: number;
  /** Of the entry with that sequence. */
  readonly hash: string;
  /** Entries that the chain has had up to here. */
  readonly count: number;
  /** Sequence of the first entry that was sealed with this head. */
  readonly first: number;
  /** `batchHash` of the entries from `first` on: an entry is proven by the hashes beside it, without what they are of. */
  readonly batch: string;
  readonly sealed_at: string;
  readonly kid: string;
  /** Ed25519 over `headText`, base64url. */
  readonly signature: string;
}

/** Stands for the entries up to and with `through_sequence`, which retention has removed. */
export interface AuditCheckpoint {
  readonly v: 1;
  readonly account_id: string;
  readonly through_sequence: number;
  /** Of the last entry that was removed: what the first one left was linked to. */
  readonly hash: string;
  readonly removed_at: string;
  readonly kid: string;
  readonly signature: string;
}

export type Unsigned<Signed extends { readonly signature: string }> = Omit<Signed, 'signature'>;

/** What the first entry of an account is linked to: no entry of one account fits into the chain of another. */
export function chainStart(accountId: string): string {
  return sha256Hex(`holdfast-audit-v1\n${accountId}`);
}

/** What an event tells, by the names that entries and the API use; members without a value are left out. */
export interface AuditMembers {
  readonly type: string;
  readonly at: string;
  readonly operation_id?: string;
  readonly from?: string;
  readonly to?: string;
  readonly principal?: string;
  readonly agent_run?: string;
  readonly route?: string;
  readonly key?: string;
  readonly fingerprint?: string;
  readonly response_hash?: string;
  readonly provider_reference?: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** An event in its place. */
export interface AuditEntry extends AuditMembers {
  readonly v: 1;
  readonly account_id: string;
  /** From 1, without a gap. */
  readonly sequence: number;
  /** Hash of the entry before. By its name it stands at the beginning of the bytes, where it is compared quickest. */
  readonly after: string;
}

export function membersOf(record: AuditRecord): AuditMembers {
  const members: Record<keyof AuditMembers, unknown> = {
    type: record.type,
    at: record.at,
    operation_id: record.operationId,
    from: record.from,
    to: record.to,
    principal: record.principal,
    agent_run: record.agentRun,
    route: record.route,
    key: record.key,
    fingerprint: record.fingerprint,
    response_hash: record.responseHash,
    provider_reference: record.providerReference,
    detail: record.detail,
  };
  const present = Object.entries(members).filter(([, value]) => value !== null);
  return Object.fromEntries(present) as unknown as AuditMembers;
}

/** The bytes of an entry, in their RFC 8785 form; the hash of the entry is their SHA-256. */
export function entryText(
  accountId: string,
  { sequence, after }: Pick<AuditEntry, 'sequence' | 'after'>,
  record: AuditRecord,
): string {
  const place = { v: 1, account_id: accountId, sequence, after } as const;
  const entry: AuditEntry = { ...place, ...membersOf(record) };
  return canonicalJson(entry as unknown as JsonObject);
}

/** One hash for the entries of a batch: over their hashes in order, each as 64 hexadecimal digits. */
export function batchHash(hashes: readonly string[]): string {
  return sha256Hex(hashes.join(''));
}

/** An entry as a line of an export: its bytes with the hash as one more member at the end. */
export function entryLine(entry: string, hash: string): string {
  return `${entry.slice(0, -1)},"hash":"${hash}"}`;
}

/** What a head's signature is over. */
export const headText = (head: Unsigned<AuditHead>): string => signedText('head', head);

/** What a checkpoint's signature is over. */
export const checkpointText = (checkpoint: Unsigned<AuditCheckpoint>): string =>
  signedText('checkpoint', checkpoint);

/** A line that says what is signed, so that no signature can be used for something else, then everything but the signature. */
function signedText(what: string, value: object): string {
  const { signature: _, ...rest } = value as JsonObject;
  return `holdfast-audit-${what}-v1\n${canonicalJson(rest)}`;
}
