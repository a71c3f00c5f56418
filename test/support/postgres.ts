// A database of its own for each test file, cloned from the migrated template.
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { inject } from 'vitest';
import { TEMPLATE_DATABASE } from './template-database.ts';

export interface TestDatabase {
  /** Connection URL; no password, loopback. */
  readonly url: string;
  /** Removes the database, ending whoever is still connected. */
  readonly drop: () => Promise<void>;
}

/** Only in suites whose vitest project starts Postgres (store, api, workflows, e2e, faults). */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await inCluster(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE_DATABASE}`);
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => inCluster(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function inCluster(statement: string): Promise<void> {
  const client = new Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
