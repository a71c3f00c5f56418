// Audit logs made without a database: entries as the sealer chains them, heads signed by a key of the test's own.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  batchHash,
  chainStart,
  entryLine,
  entryText,
  headText,
  type AuditHead,
  type AuditRecord,
} from '../../src/domain/audit-chain.ts';
import { sha256Hex } from '../../src/domain/sha256.ts';
import {
  ensureKeyPair,
  readVerifier,
  type SigningKey,
  type Verifier,
} from '../../src/signing/keys.ts';

const ACCOUNT = 'acct_a';

/** Keys in a folder of their own. */
export interface TestKeys {
  readonly folder: string;
  readonly publicKeys: string;
  readonly key: SigningKey;
  readonly verifier: Verifier;
  readonly remove: () => void;
}

export function makeKeys(): TestKeys {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-audit-'));
  const publicKeyFolder = join(folder, 'audit.public');
  mkdirSync(publicKeyFolder);
  const key = ensureKeyPair({ privateKeyFile: join(folder, 'audit.pem'), publicKeyFolder });
  return {
    folder,
    publicKeys: publicKeyFolder,
    key,
    verifier: readVerifier(publicKeyFolder),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** An event with a member of every sort, texts beyond ASCII among them. */
export const recordOf = (n: number, members: Partial<AuditRecord> = {}): AuditRecord => ({
  type: n % 3 === 0 ? 'transition' : 'claimed',
  operationId: `op_${n}`,
  at: '2026-01-02T03:04:05.678Z',
  from: n % 3 === 0 ? 'PENDING' : null,
  to: 'IN_PROGRESS',
  principal: 'acct_a.agent',
  agentRun: n % 2 === 0 ? `run “${n}” \\ é 😀` : null,
  route: '/agent/operations/payment',
  key: `key-${n}`,
  fingerprint: sha256Hex(String(n)),
  responseHash: null,
  providerReference: null,
  detail: { attempt: n, share: 0.5 },
  ...members,
});

export interface TestLog {
  readonly lines: readonly string[];
  readonly heads: readonly AuditHead[];
}

/** A chain of these records; a head after each of `headsAt`, and after the last. */
export function chainOf(
  key: SigningKey,
  records: readonly AuditRecord[],
  headsAt: readonly number[] = [],
  account = ACCOUNT,
): TestLog {
  let previous = chainStart(account);
  let batch: string[] = [];
  const lines: string[] = [];
  const heads: AuditHead[] = [];
  for (const [n, record] of records.entries()) {
    const sequence = n + 1;
    const entry = entryText(account, { sequence, after: previous }, record);
    previous = sha256Hex(entry);
    batch.push(previous);
    lines.push(entryLine(entry, previous));
    if (sequence === records.length || headsAt.includes(sequence)) {
      heads.push(headOf(key, account, sequence, batch));
      batch = [];
    }
  }
  return { lines, heads };
}

/** `hashes`: of the entries that are sealed with it. */
export function headOf(
  key: SigningKey,
  account: string,
  sequence: number,
  hashes: readonly string[],
): AuditHead {
  const head = {
    v: 1,
    account_id: account,
    sequence,
    hash: hashes.at(-1) ?? '',
    count: sequence,
    first: sequence - hashes.length + 1,
    batch: batchHash(hashes),
    sealed_at: '2026-01-02T03:04:06.000Z',
    kid: key.kid,
  } as const;
  return { ...head, signature: key.sign(headText(head)) };
}

/** Writes lines, each with a newline; answers the path. */
export function written(folder: string, name: string, lines: readonly string[]): string {
  const path = join(folder, name);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  return path;
}
