// Is a text an evidence bundle at all? Everything that is compared later has its form from here on. Further members may be there.
import { canonicalJson } from '../domain/canonical-json.ts';
import type { EvidenceBundle } from '../domain/evidence-bundle.ts';
import type { JsonValue } from '../domain/strict-json.ts';

/** The bundle, or undefined where the text is something else. */
export function parseEvidence(text: string): EvidenceBundle | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    // Throws for what has no canonical form anywhere: its signatures could not be checked.
    canonicalJson(value);
    return isBundle(value) ? (value as unknown as EvidenceBundle) : undefined;
  } catch {
    return undefined;
  }
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isTextOrNull: Check = (value) => value === null || isText(value);
const isHash: Check = (value) => isText(value) && /^[0-9a-f]{64}$/.test(value as string);
const isTime: Check = (value) =>
  isText(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value as string);
const isTimeOrNull: Check = (value) => value === null || isTime(value);
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isFlag: Check = (value) => typeof value === 'boolean';
const isAnything: Check = (value) => value !== undefined;

const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

const objectWith =
  (members: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(members).every(([name, check]) => check(Reflect.get(value, name)));

const isOperation = objectWith({
  operation_id: isText,
  account_id: isText,
  idempotency_key: isText,
  fingerprint: isText,
  status: isText,
  agent_id: isText,
  agent_run: isTextOrNull,
  connection: isText,
  provider_token: isText,
  plan: objectWith({}),
  provider_reference: isTextOrNull,
  response_sha256: isTextOrNull,
});

const isVote = objectWith({
  principal_id: isText,
  owner: isText,
  decision: isText,
  decided_at: isTime,
  signed: isAnything,
});

const isApproval = objectWith({
  approval_id: isText,
  status: isText,
  fingerprint: isText,
  quorum: isCount,
  approvers: isAnything,
  own_requests: isFlag,
  policy_version: isTextOrNull,
  preconditions: isAnything,
  expires_at: isTime,
  decided_at: isTimeOrNull,
  consumed_at: isTimeOrNull,
  votes: listOf(isVote),
});

const isHead = objectWith({
  account_id: isText,
  sequence: isCount,
  first: isCount,
  hash: isHash,
  batch: isHash,
  kid: isText,
  signature: isText,
});

const isCheckpoint = objectWith({
  account_id: isText,
  through_sequence: isCount,
  hash: isHash,
  kid: isText,
  signature: isText,
});

const isBundle = objectWith({
  v: (value) => value === 1,
  operation: isOperation,
  approvals: listOf(isApproval),
  entries: listOf(isText),
  proofs: listOf(objectWith({ hashes: listOf(isHash), head: isHead })),
  unsealed: isCount,
  checkpoint: (value) => value === null || isCheckpoint(value),
  consistent: isFlag,
  disagreements: listOf(isText),
});
