// A sealer on a test's register, with keys and heads in folders of its own.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { openHeadLog } from '../../src/audit/head-log.ts';
import { createSealer, type Sealer } from '../../src/audit/sealer.ts';
import { verifyLog, type LogReport } from '../../src/audit/verify-log.ts';
import { entryLine, type AuditHead } from '../../src/domain/audit-chain.ts';
import { createWorkerMetrics } from '../../src/observability/metrics.ts';
import { readVerifier } from '../../src/signing/keys.ts';
import { readCheckpoint, readSealed } from '../../src/store/audit-sealing.store.ts';
import { makeKeys, written, type TestKeys } from './audit-log.ts';
import type { Register } from './register.ts';
import { samplesOf, valueOf } from './samples.ts';
import { until } from './until.ts';

/** More entries than a test makes. */
const ALL = 100_000;

export interface TestSealer extends Sealer {
  readonly keys: TestKeys;
  readonly headsFolder: string;
  /** Seals until nothing of the account waits. */
  sealAll(accountId: string): Promise<void>;
  /** The heads outside of the database. */
  exported(accountId: string): AuditHead[];
  /** Checks what is stored, as an export, against the heads outside. */
  verify(accountId: string, heads?: readonly AuditHead[]): Promise<LogReport>;
  /** How many accounts the metric calls broken. */
  broken(): Promise<number>;
  /** What it has said of an account's chain. */
  problemOf(accountId: string): string | undefined;
  /** Another one with the same keys: `headsFolder` names its own place for heads. */
  again(headsFolder?: string, retentionMs?: number): TestSealer;
}

export function startSealer(register: Register, keys: TestKeys = makeKeys()): TestSealer {
  return sealerAt(register, keys, join(keys.folder, 'heads'));
}

function sealerAt(
  register: Register,
  keys: TestKeys,
  headsFolder: string,
  retentionMs?: number,
): TestSealer {
  const metrics = createWorkerMetrics();
  const said: { readonly account_id: string; readonly problem: string }[] = [];
  const sealer = createSealer({
    pool: register.pool,
    key: keys.key,
    verifier: keys.verifier,
    heads: openHeadLog(headsFolder),
    retentionMs,
    metrics,
    logger: pino({ level: 'error' }, { write: (line) => void said.push(JSON.parse(line)) }),
  });
  const exported = (accountId: string): AuditHead[] =>
    readFileSync(join(headsFolder, `${accountId}.jsonl`), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as AuditHead);
  return {
    ...sealer,
    keys,
    headsFolder,
    exported,
    async sealAll(accountId) {
      await until('all is sealed', async () => {
        await sealer.sealOnce();
        const sql = `select count(*) from audit_events where account_id = $1 and sequence is null`;
        return (await register.count(sql, [accountId])) === 0;
      });
    },
    async verify(accountId, heads = exported(accountId)) {
      const entries = await readSealed(register.pool, accountId, 0, ALL);
      const checkpoint = await readCheckpoint(register.pool, accountId);
      const lines = [
        ...(checkpoint ? [JSON.stringify(checkpoint)] : []),
        ...entries.map(({ entry, hash }) => entryLine(entry, hash)),
      ];
      return verifyLog(written(keys.folder, 'export.jsonl', lines), heads, keys.verifier);
    },
    broken: async () =>
      Number(valueOf(samplesOf(await metrics.registry.metrics()), 'holdfast_audit_chains_broken')),
    problemOf: (accountId) => said.find((one) => one.account_id === accountId)?.problem,
    again: (folder = headsFolder, ms) =>
      sealerAt(register, { ...keys, verifier: readVerifier(keys.publicKeys) }, folder, ms),
  };
}

/** Changes the database as somebody does who may do anything there. */
export async function attack(register: Register, ...statements: string[]): Promise<void> {
  const client = await register.pool.connect();
  try {
    // Triggers and foreign keys are no obstacle to a superuser.
    await client.query('set session_replication_role = replica');
    for (const one of statements) await client.query(one);
  } finally {
    await client.query('set session_replication_role = default');
    client.release();
  }
}
