// Who is asking: principals, their keys (stored as hashes) and their grants.
import type { Role } from '../domain/principal.ts';
import { sha256Bytes } from '../domain/sha256.ts';
import { inBatches } from './in-batches.ts';
import { KNOWN_KEY, knownKeyFromRow, type KnownKey } from './operations.store.ts';
import type { Pool, Queryable } from './pool.ts';
import { run, type Prepared } from './prepared.ts';

export type { Role };

export interface Principal {
  readonly principalId: string;
  readonly accountId: string;
  readonly owner: string;
  readonly roles: readonly Role[];
  /** Kinds an agent may submit and read. */
  readonly grants: readonly string[];
}

/** `last_used_at` is for people who tidy up keys; a write per request would cost more than the minute is worth. */
const LAST_USE_RESOLUTION = '1 minute';

/** Over `principals p` and `q`, whose `key` is looked up with them. The limit keeps a plan from reading the register for a few keys. */
const WHO = `p.principal_id, p.account_id as account, p.owner, p.roles,
       array(select g.kind from grants g where g.principal_id = p.principal_id) as grants, known.*`;
const KNOWN = `left join lateral (
       select ${KNOWN_KEY} where k.account_id = p.account_id and k.idempotency_key = q.key
       limit 1) known on true`;

/** `$1`: digests of secrets; `$2`: the key that each is looked up with, or null. Answers a row for each that is somebody's, with its place. */
const CALLERS: Prepared = {
  name: 'callers',
  text: `select q.n, a.key_id, coalesce(a.last_used_at < clock.now - interval '${LAST_USE_RESOLUTION}', true) as note_use, ${WHO}
     from (select holdfast_now() as now) clock,
       rows from (unnest($1::bytea[]), unnest($2::text[])) with ordinality as q (secret, key, n)
     join api_keys a on a.secret_sha256 = q.secret and a.revoked_at is null
     join principals p using (principal_id) ${KNOWN}
     where p.disabled_at is null and (a.expires_at is null or a.expires_at > clock.now)`,
};

const TOKEN_CALLER: Prepared = {
  name: 'token_caller',
  text: `select ${WHO} from principals p cross join (select $2::text as key) q ${KNOWN}
     where p.principal_id = $1 and p.issuer is not null and p.disabled_at is null`,
};

/** The principal of a secret, and what one of its keys already stands for. */
export interface Caller {
  readonly principal: Principal;
  readonly known: KnownKey | undefined;
}

interface Shown {
  readonly secret: string;
  readonly key: string | null;
}

/**
 * The principal of a secret; undefined where it is unknown, expired or revoked, or its principal is disabled. With a `key`, the same
 * statement looks up what that key stands for in the principal's account: a submit needs both, and a round trip is most of what a replay
 * costs, which is why requests of one moment share it.
 */
export function findCaller(
  pool: Pool,
  secret: string,
  key: string | null,
): Promise<Caller | undefined> {
  return findTogether(pool, { secret, key });
}

const findTogether = inBatches(findCallers);

async function findCallers(pool: Pool, asked: readonly Shown[]): Promise<(Caller | undefined)[]> {
  const digests = asked.map(({ secret }) => sha256Bytes(secret));
  const { rows } = await run(pool, CALLERS, [digests, asked.map(({ key }) => key)]);
  const unused = rows.filter((row) => row.note_use).map((row) => row.key_id);
  if (unused.length > 0) await noteUse(pool, unused);
  const found = new Map(rows.map((row) => [Number(row.n), row]));
  return asked.map(({ key }, n) => {
    const row = found.get(n + 1);
    return row && callerFromRow(row, key);
  });
}

/** The same for a principal whose token was verified; undefined where it is disabled. */
export async function findTokenCaller(
  pool: Pool,
  principalId: string,
  key: string | null,
): Promise<Caller | undefined> {
  const { rows } = await run(pool, TOKEN_CALLER, [principalId, key]);
  return rows[0] && callerFromRow(rows[0], key);
}

interface CallerRow extends Readonly<Record<string, unknown>> {
  readonly principal_id: string;
  readonly account: string;
  readonly owner: string;
  readonly roles: readonly Role[];
  readonly grants: readonly string[];
}

function callerFromRow(row: CallerRow, key: string | null): Caller {
  const principal: Principal = {
    principalId: row.principal_id,
    accountId: row.account,
    owner: row.owner,
    roles: row.roles,
    grants: row.grants,
  };
  const isKnown = key !== null && row['operation_id'] !== null;
  return { principal, known: isKnown ? knownKeyFromRow(row, key) : undefined };
}

/** In one order, so that two of these wait for each other in turn. */
async function noteUse(db: Queryable, keyIds: readonly string[]): Promise<void> {
  await db.query(
    `update api_keys set last_used_at = holdfast_now() where key_id in (
       select key_id from api_keys where key_id = any ($1) order by key_id for no key update)`,
    [keyIds],
  );
}

export interface NewPrincipal extends Principal {
  readonly keyId: string;
  readonly secret: string;
}

/** Creates principals with a key each; what exists already is left as it is. */
export async function addPrincipals(
  db: Queryable,
  principals: readonly NewPrincipal[],
): Promise<void> {
  for (const one of principals) {
    await db.query(
      `insert into principals (principal_id, account_id, owner, roles) values ($1, $2, $3, $4)
       on conflict do nothing`,
      [one.principalId, one.accountId, one.owner, one.roles],
    );
    await db.query(
      `insert into api_keys (key_id, principal_id, secret_sha256) values ($1, $2, $3)
       on conflict do nothing`,
      [one.keyId, one.principalId, sha256Bytes(one.secret)],
    );
    await db.query(
      `insert into grants (principal_id, kind) select $1, unnest($2::text[]) on conflict do nothing`,
      [one.principalId, one.grants],
    );
  }
}

/** Two first starts at once must not write two sets of credentials; held to the end of the transaction. */
export async function lockFirstStart(db: Queryable): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(hashtext('holdfast first credentials'))`);
}

/** True where nobody has been created yet: only then are first credentials written. */
export async function hasNoPrincipals(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ none: boolean }>(
    'select not exists (select 1 from principals) as none',
  );
  return rows[0]?.none === true;
}

/** Random per database: it keeps provider tokens of different installations apart. */
export async function installationId(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ installation_id: string }>(
    'select installation_id from installation',
  );
  if (!rows[0]) throw new Error('the installation row is missing');
  return rows[0].installation_id;
}

/** Accounts that somebody may act for. */
export async function accountsInUse(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(
    `select distinct account_id from principals where 'agent' = any (roles)`,
  );
  return rows.map((row) => row.account_id);
}
