// Gives audit events their place in the chain of their account, in batches: the path of a request only inserts, and a hot account is
// not serialised by its chain. Each batch ends with a signed head, kept in the database for those who ask, and written outside of it.
import { batchHash, entryText, headText, type AuditHead } from '../domain/audit-chain.ts';
import { sha256Hex } from '../domain/sha256.ts';
import type { Logger } from '../observability/logger.ts';
import type { SealerMetrics } from '../observability/metrics.ts';
import type { SigningKey, Verifier } from '../signing/keys.ts';
import type { AuditRow } from '../store/audit-reading.store.ts';
import {
  accountsToSeal,
  databaseTime,
  headsFrom,
  lockSealing,
  sealedAccounts,
  storeHead,
  storeSealed,
  unsealedEvents,
} from '../store/audit-sealing.store.ts';
import type { Pool, Queryable } from '../store/pool.ts';
import { inTransaction } from '../store/transaction.ts';
import { checkChain, type ChainEnd } from './check-chain.ts';
import type { HeadLog } from './head-log.ts';
import { retireOldest } from './retire.ts';

/** Also bounds how many hashes prove that an entry is in a head: 64 KiB of them. */
const BATCH = 1_000;

/** Heads that are written outside together. */
const HEADS_AT_ONCE = 1_000;

/** How often chains are looked at to which nothing is added. */
const CHECK_ALL_MS = 60_000;

export interface SealerDependencies {
  readonly pool: Pool;
  readonly key: SigningKey;
  readonly verifier: Verifier;
  readonly heads: HeadLog;
  /** How long entries stay after they were sealed; undefined: for ever. */
  readonly retentionMs: number | undefined;
  readonly metrics: SealerMetrics;
  readonly logger: Logger;
}

export interface Sealer {
  /** Seals at most one batch of each account; answers how many accounts have more that waits. */
  sealOnce(): Promise<number>;
}

/** Of several sealers on one database one works at a time. */
export function createSealer(deps: SealerDependencies): Sealer {
  const broken = new Set<string>();
  let checkedAt = Number.NEGATIVE_INFINITY;
  return {
    async sealOnce() {
      const waiting = await accountsToSeal(deps.pool);
      const all = performance.now() - checkedAt >= CHECK_ALL_MS;
      const others = all ? await knownAccounts(deps) : [];
      let more = 0;
      for (const account of new Set([...waiting, ...others])) {
        const round = await sealAccount(deps, account);
        if (round !== 'busy') report(deps, broken, account, round.problem);
        if (round !== 'busy' && round.sealed === BATCH) more += 1;
      }
      if (all) checkedAt = performance.now();
      return more;
    },
  };
}

/** Also those that only the heads outside still know. */
async function knownAccounts({ pool, heads }: SealerDependencies): Promise<string[]> {
  return [...(await sealedAccounts(pool)), ...(await heads.accounts())];
}

/** `busy`: another sealer is at work. `problem`: a sentence; nothing was done. */
type Round = 'busy' | { readonly sealed: number; readonly problem?: string };

async function sealAccount(deps: SealerDependencies, accountId: string): Promise<Round> {
  const exported = await deps.heads.newest(accountId);
  const round = await inTransaction(deps.pool, async (db): Promise<Round> => {
    if (!(await lockSealing(db))) return 'busy';
    const chain = await checkChain(db, deps.verifier, accountId, exported);
    if (!chain.ok) return { sealed: 0, problem: chain.problem };
    if (deps.retentionMs !== undefined) {
      await retireOldest(db, deps.key, accountId, chain.end, deps.retentionMs);
    }
    return { sealed: await sealBatch(deps, db, accountId, chain.end) };
  });
  if (round === 'busy' || round.problem !== undefined) return round;
  // After the commit: a head outside of an entry that was rolled back would look like a chain that was cut.
  const problem = await exportHeads(deps, accountId, exported);
  return problem === undefined ? round : { ...round, problem };
}

/** Writes what is not outside yet, whoever sealed it: each sealer has a place of its own. */
async function exportHeads(
  { pool, verifier, heads }: SealerDependencies,
  accountId: string,
  exported: AuditHead | undefined,
): Promise<string | undefined> {
  const next = await headsFrom(pool, accountId, (exported?.sequence ?? 0) + 1, HEADS_AT_ONCE);
  const forged = next.find((one) => !verifier.verify(one.kid, headText(one), one.signature));
  if (forged) return `the signature of head ${forged.sequence} is not one of the known keys`;
  await heads.append(accountId, next);
  return undefined;
}

async function sealBatch(
  { key }: SealerDependencies,
  db: Queryable,
  accountId: string,
  end: ChainEnd,
): Promise<number> {
  const events = await unsealedEvents(db, accountId, BATCH);
  if (events.length === 0) return 0;
  const entries = chained(accountId, events, end);
  await storeSealed(db, entries);
  const hashes = entries.map(({ hash }) => hash);
  await storeHead(db, signedHead(key, accountId, end, hashes, await databaseTime(db)));
  return events.length;
}

function chained(accountId: string, events: readonly AuditRow[], end: ChainEnd) {
  let after = end.hash;
  return events.map((event, n) => {
    const sequence = end.sequence + n + 1;
    const entry = entryText(accountId, { sequence, after }, event);
    const hash = sha256Hex(entry);
    after = hash;
    return { eventId: event.eventId, sequence, entry, hash };
  });
}

function signedHead(
  key: SigningKey,
  accountId: string,
  before: ChainEnd,
  hashes: readonly string[],
  now: string,
): AuditHead {
  const sequence = before.sequence + hashes.length;
  const head = {
    v: 1,
    account_id: accountId,
    sequence,
    hash: hashes.at(-1) ?? before.hash,
    count: sequence,
    first: before.sequence + 1,
    batch: batchHash(hashes),
    sealed_at: now,
    kid: key.kid,
  } as const;
  return { ...head, signature: key.sign(headText(head)) };
}

/** A broken chain is said aloud when it is found, and shown for as long as it is. */
function report(
  { metrics, logger }: SealerDependencies,
  broken: Set<string>,
  accountId: string,
  problem: string | undefined,
): void {
  if (problem === undefined) broken.delete(accountId);
  else {
    if (!broken.has(accountId)) {
      logger.error({ account_id: accountId, problem }, 'the audit chain is broken: not sealed on');
    }
    broken.add(accountId);
  }
  metrics.chainsBroken.set(broken.size);
}
