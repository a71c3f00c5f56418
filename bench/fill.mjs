// Stored operations by the hundred thousand, without going through the path for each: copies of one that went through it.
import { Pool } from 'pg';

/** Rows of one statement. */
const CHUNK = 10_000;

/** What tells copy `n` from the others. They are spread over the last month, as those of an account in use are. */
const OWN = {
  operation_id: `'op_fill_' || n`,
  idempotency_key: `'fill-' || n`,
  fingerprint: `encode(sha256(n::text::bytea), 'hex')`,
  business_key: `'["fill-' || n || '"]'`,
  provider_token: `'fill-' || n`,
  provider_reference: `'pay_fill_' || n`,
  created_at: `s.created_at - (n % 43200) * interval '1 minute'`,
};

/** Adds `count` settled operations with their keys, attempts and evidence. */
export async function fill({ databaseUrl }, count) {
  const pool = new Pool({ connectionString: databaseUrl, max: 1 });
  const { rows } = await pool.query(
    `select operation_id as sample, (select count(*) from operations where operation_id like 'op_fill_%')::int as filled
     from operations where status = 'SUCCEEDED' and operation_id not like 'op_fill_%' limit 1`,
  );
  const { sample, filled } = rows[0];
  const statements = [
    await copyOf(pool, 'operations', OWN),
    await copyOf(pool, 'attempts', { operation_id: OWN.operation_id }),
    await copyOf(pool, 'evidence', { operation_id: OWN.operation_id }),
    await copyOf(pool, 'idempotency_keys', keys('operation_id', 'idempotency_key', 'fingerprint')),
    await copyOf(pool, 'business_keys', keys('operation_id', 'business_key')),
  ];
  for (let from = filled + 1; from <= filled + count; from += CHUNK) {
    const to = Math.min(filled + count, from + CHUNK - 1);
    for (const text of statements) await pool.query(text, [sample, from, to]);
  }
  await pool.query('vacuum analyze');
  await pool.query('checkpoint');
  await pool.end();
}

const keys = (...names) => Object.fromEntries(names.map((name) => [name, OWN[name]]));

/** `$1`: the operation to copy; `$2` and `$3`: first and last number of the copies. */
async function copyOf(pool, table, own) {
  const { rows } = await pool.query(
    `select column_name as name from information_schema.columns
     where table_schema = current_schema and table_name = $1 and is_generated = 'NEVER' and is_identity = 'NO'`,
    [table],
  );
  const names = rows.map(({ name }) => name);
  const values = names.map((name) => own[name] ?? `s.${name}`);
  return `insert into ${table} (${names.join(', ')})
    select ${values.join(', ')} from ${table} s, generate_series($2::int, $3::int) n
    where s.operation_id = $1`;
}
