import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Client } from 'pg';
import { migrate } from '../../src/store/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
const applied = () => query('select name from schema_migrations order by id');

describe('the migrations', () => {
  it('change nothing the second time, and keep what is stored', async () => {
    const before = await applied();
    await query(`insert into principals values ('p', 'acct_a', 'team', '{operator}')`);
    await migrate(database.url);
    expect(await applied()).toEqual(before);
    expect(await query('select principal_id from principals')).toEqual([{ principal_id: 'p' }]);
  });

  it('build an empty database, also where several processes start at once', async () => {
    const before = await applied();
    await query('drop schema public cascade');
    await query('create schema public');
    const starts = await Promise.allSettled(Array.from({ length: 4 }, () => migrate(database.url)));
    expect(starts.map(({ status }) => status)).toEqual(Array(4).fill('fulfilled'));
    expect(await applied()).toEqual(before);
    expect(await query('select count(*)::int as rows from installation')).toEqual([{ rows: 1 }]);
  });
});
