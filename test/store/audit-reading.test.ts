// A reader that follows the cursors misses no event, however late it was committed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PoolClient } from 'pg';
import { appendAudit } from '../../src/store/audit.store.ts';
import { readAuditEvents, type AuditPlace } from '../../src/store/audit-reading.store.ts';
import { until } from '../support/until.ts';
import { openRegister, type Register } from '../support/register.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
});
afterAll(() => register.close());

const AT = '2026-01-02T03:04:05.678Z';

const append = (db: Pick<PoolClient, 'query'>, accountId: string, route: string) =>
  appendAudit(db, [{ accountId, operationId: null, type: 'refused', at: AT, route }]);

const read = (accountId: string, after?: AuditPlace, limit = 100) =>
  readAuditEvents(register.pool, accountId, { after }, limit);

const routesOf = (rows: readonly { route: string | null }[]) => rows.map((row) => row.route);

/** Other databases of the cluster have writers too; what is older than all of them is shown. */
const untilShown = (accountId: string, count: number) =>
  until(`${count} events are shown`, async () => {
    const rows = await read(accountId);
    return rows.length >= count && rows;
  });

async function begun(): Promise<PoolClient> {
  const client = await register.pool.connect();
  await client.query('begin');
  return client;
}

async function end(client: PoolClient, how: 'commit' | 'rollback'): Promise<void> {
  await client.query(how);
  client.release();
}

describe('reading the audit', () => {
  it('passes over no event that was committed later under a lower id', async () => {
    const account = 'late_one';
    const late = await begun();
    await append(late, account, 'late');
    await append(register.pool, account, 'early');
    // The id of the late one is lower, so a reader that had seen `early` would never look for it.
    expect(routesOf(await read(account))).toEqual([]);
    await end(late, 'commit');
    expect(routesOf(await untilShown(account, 2))).toEqual(['late', 'early']);
  });

  it('passes over none whose id was lower and whose transaction began later', async () => {
    const account = 'late_two';
    const older = await begun();
    await older.query('select pg_current_xact_id()');
    const younger = await begun();
    await append(younger, account, 'lower id, younger transaction');
    await append(older, account, 'higher id, older transaction');
    await end(older, 'commit');
    const first = await untilShown(account, 1);
    expect(routesOf(first)).toEqual(['higher id, older transaction']);
    await end(younger, 'commit');
    const next = await until('the second is shown', async () => {
      const rows = await read(account, first[0]);
      return rows.length > 0 && rows;
    });
    expect(routesOf(next)).toEqual(['lower id, younger transaction']);
  });

  it('goes on past a transaction that was rolled back', async () => {
    const account = 'rolled_back';
    const gone = await begun();
    await append(gone, account, 'gone');
    await append(register.pool, account, 'stays');
    await end(gone, 'rollback');
    expect(routesOf(await untilShown(account, 1))).toEqual(['stays']);
  });

  it('goes through all events in pages, each once, in the order of one transaction too', async () => {
    const account = 'pages';
    const routes = Array.from({ length: 7 }, (_, n) => `r${n}`);
    await appendAudit(
      register.pool,
      routes.slice(0, 4).map((route) => ({
        accountId: account,
        operationId: null,
        type: 'refused' as const,
        at: AT,
        route,
      })),
    );
    for (const route of routes.slice(4)) await append(register.pool, account, route);
    await untilShown(account, routes.length);
    const seen: (string | null)[] = [];
    for (let place: AuditPlace | undefined; ;) {
      const page = await read(account, place, 3);
      seen.push(...routesOf(page));
      place = page.at(-1);
      if (page.length < 3) break;
    }
    expect(seen).toEqual(routes);
  });

  it('misses nothing and repeats nothing while many write at once', async () => {
    const account = 'many';
    const [writers, each] = [8, 20];
    let writing = true;
    const work = Promise.all(
      Array.from({ length: writers }, async (_, writer) => {
        for (let n = 0; n < each; n += 1) {
          const client = await begun();
          await append(client, account, `${writer}.${n}`);
          if (n % 3 === 0) await client.query('select pg_sleep(0.01)');
          await end(client, n % 5 === 4 ? 'rollback' : 'commit');
        }
      }),
    ).finally(() => {
      writing = false;
    });
    const seen: (string | null)[] = [];
    let place: AuditPlace | undefined;
    const wanted = writers * each * 0.8;
    await until('the reader has seen all', async () => {
      const page = await read(account, place, 7);
      seen.push(...routesOf(page));
      place = page.at(-1) ?? place;
      return page.length < 7 && !writing && seen.length >= wanted;
    });
    await work;
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBe(wanted);
  });
});
