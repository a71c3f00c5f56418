// The sealer on a real register: late commits, several sealers, and somebody who may change everything in the database.
import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chainStart, entryText, type AuditEntry } from '../../src/domain/audit-chain.ts';
import { sha256Hex } from '../../src/domain/sha256.ts';
import { readVerifier } from '../../src/signing/keys.ts';
import { appendAudit } from '../../src/store/audit.store.ts';
import { readSealed } from '../../src/store/audit-sealing.store.ts';
import type { Queryable } from '../../src/store/pool.ts';
import { headOf, makeKeys } from '../support/audit-log.ts';
import { claimed, move, openRegister, type Register } from '../support/register.ts';
import { attack, startSealer, type TestSealer } from '../support/sealing.ts';

let register: Register;
let sealer: TestSealer;
beforeAll(async () => {
  register = await openRegister();
  sealer = startSealer(register);
});
afterAll(async () => {
  await register.close();
  sealer.keys.remove();
});

const AT = '2026-01-02T03:04:05.678Z';
let accounts = 0;
const newAccount = (): string => `account_${(accounts += 1)}`;

const append = (db: Queryable, accountId: string, ...routes: string[]) =>
  appendAudit(
    db,
    routes.map((route) => ({ accountId, operationId: null, type: 'refused', at: AT, route })),
  );

const routes = (count: number, from = 1) => Array.from({ length: count }, (_, n) => `r${n + from}`);

/** An account with this many sealed events, in several batches. */
async function sealedAccount(count = 6, by = sealer): Promise<string> {
  const account = newAccount();
  for (const part of [routes(count / 2), routes(count / 2, count / 2 + 1)]) {
    await append(register.pool, account, ...part);
    await by.sealAll(account);
  }
  return account;
}

const chain = async (account: string) =>
  (await readSealed(register.pool, account, 0, 10_000)).map((one) => ({
    ...one,
    told: JSON.parse(one.entry) as AuditEntry,
  }));

describe('the sealer', () => {
  it('gives each event of an account its place, without gaps, each linked to the one before', async () => {
    const account = await sealedAccount();
    const entries = await chain(account);
    expect(entries.map(({ told }) => [told.sequence, told.route])).toEqual(
      routes(6).map((route, n) => [n + 1, route]),
    );
    entries.reduce((previous, { entry, hash, told }) => {
      expect([told.after, hash]).toEqual([previous, sha256Hex(entry)]);
      return hash;
    }, chainStart(account));
    expect(await sealer.verify(account)).toMatchObject({ ok: true, entries: 6, unsigned: 0 });
  });

  it('hashes every member of an event', async () => {
    const { id } = await claimed(register, { accountId: 'acct_a', key: 'key-of-all-members' });
    await move(register, id, { to: 'IN_PROGRESS' });
    await move(register, id, { to: 'SUCCEEDED', result: {}, providerReference: 'pay_7' });
    await sealer.sealAll('acct_a');
    const told = (await chain('acct_a')).map((one) => one.told);
    const { response_sha256: hash } = (
      await register.rows(
        `select encode(sha256(response_body::bytea), 'hex') as response_sha256 from operations where operation_id = $1`,
        [id],
      )
    )[0] as { response_sha256: string };
    expect(told.find(({ operation_id: of, to }) => of === id && to === 'SUCCEEDED')).toEqual({
      v: 1,
      account_id: 'acct_a',
      sequence: expect.any(Number),
      after: expect.stringMatching(/^[0-9a-f]{64}$/),
      type: 'transition',
      at: expect.stringMatching(/Z$/),
      operation_id: id,
      from: 'IN_PROGRESS',
      to: 'SUCCEEDED',
      principal: 'acct_a.agent',
      key: 'key-of-all-members',
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      response_hash: hash,
      provider_reference: 'pay_7',
    });
  });

  it('overtakes no event that is committed late, and puts it where readers see it', async () => {
    const account = newAccount();
    const late = await register.pool.connect();
    await late.query('begin');
    await append(late, account, 'late');
    await append(register.pool, account, 'early');
    await sealer.sealOnce();
    expect(await chain(account)).toEqual([]);
    await late.query('commit');
    late.release();
    await sealer.sealAll(account);
    expect((await chain(account)).map(({ told }) => told.route)).toEqual(['late', 'early']);
  });

  it('makes one chain of what many write at once, while several seal', async () => {
    const account = newAccount();
    const sealers = [sealer, sealer.again(join(sealer.keys.folder, 'heads-2'))];
    const state = { writing: true };
    const work = Promise.all(
      routes(8).map(async (writer) => {
        for (const route of routes(20)) await append(register.pool, account, `${writer}.${route}`);
      }),
    ).finally(() => {
      state.writing = false;
    });
    await Promise.all(
      sealers.map(async (one) => {
        while (state.writing) await one.sealOnce();
      }),
    );
    await work;
    for (const one of sealers) await one.sealAll(account);
    // An idle chain is looked at with the next event.
    await append(register.pool, account, 'last');
    for (const one of [...sealers, sealers[0]]) await one?.sealAll(account);
    expect(await sealer.verify(account)).toMatchObject({ ok: true, entries: 161 });
    expect(await Promise.all(sealers.map((one) => one.broken()))).toEqual([0, 0]);
  });

  it('goes on in the next round where a batch is full, and says so', async () => {
    const account = newAccount();
    await register.rows(
      `insert into audit_events (account_id, type, at, route)
       select $1, 'refused', holdfast_now(), 'r' || n from generate_series(1, 1200) n`,
      [account],
    );
    let more = 0;
    while ((await chain(account)).length === 0) more = await sealer.sealOnce();
    expect([more, (await chain(account)).length]).toEqual([1, 1_000]);
    await sealer.sealAll(account);
    expect(await sealer.verify(account)).toMatchObject({ ok: true, entries: 1_200 });
  });

  it('undoes a batch whole where its head can’t be stored', async () => {
    const account = await sealedAccount();
    await register.rows(
      `insert into audit_heads (account_id, sequence, head)
       values ($1, 7, '{"v": 1, "sequence": 7, "kid": "", "signature": ""}')`,
      [account],
    );
    await append(register.pool, account, 'r7');
    await sealer.sealOnce();
    expect(await chain(account)).toHaveLength(6);
    await register.rows(`delete from audit_heads where account_id = $1 and sequence = 7`, [
      account,
    ]);
    await sealer.sealAll(account);
    expect(await sealer.verify(account)).toMatchObject({ ok: true, entries: 7 });
  });
});

describe('signed heads', () => {
  it('are written outside of the database for their owner alone, one line each', async () => {
    const account = await sealedAccount();
    const path = join(sealer.headsFolder, `${account}.jsonl`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const heads = sealer.exported(account);
    expect(heads.map(({ sequence, count, account_id: of }) => [sequence, count, of])).toEqual([
      [3, 3, account],
      [6, 6, account],
    ]);
  });

  it('are written anew behind a line that a crash has cut short', async () => {
    const account = await sealedAccount();
    const path = join(sealer.headsFolder, `${account}.jsonl`);
    const [first = '', second = ''] = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, `${first}\n${second.slice(0, 40)}`);
    await append(register.pool, account, 'r7');
    await sealer.again().sealAll(account);
    const lines = readFileSync(path, 'utf8').split('\n');
    const [, cut, ...rest] = lines;
    expect(cut).toBe(second.slice(0, 40));
    expect(rest.slice(0, -1).map((line) => JSON.parse(line).sequence)).toEqual([6, 7]);
  });

  it('of another key stay good after a rotation', async () => {
    const account = await sealedAccount();
    const next = makeKeys();
    const folder = sealer.keys.publicKeys;
    const [[kid, pem] = ['', '']] = [...next.verifier.publicKeys];
    writeFileSync(join(folder, `${kid}.pem`), pem);
    const rotated = startSealer(register, {
      ...sealer.keys,
      key: next.key,
      verifier: readVerifier(folder),
    });
    await append(register.pool, account, 'r7');
    await rotated.sealAll(account);
    expect(rotated.exported(account).map((head) => head.kid)).toEqual([
      ...Array.from({ length: 2 }, () => sealer.keys.key.kid),
      kid,
    ]);
    expect(await rotated.verify(account)).toMatchObject({ ok: true, signatures: 'valid' });
    next.remove();
  });
});

describe('somebody who may change everything in the database', () => {
  /** Seals one more event with a sealer that has just started; answers what it says of the chain. */
  async function problemOf(account: string): Promise<string | undefined> {
    const before = (await chain(account)).length;
    const started = sealer.again();
    await append(register.pool, account, 'later');
    await started.sealOnce();
    const problem = started.problemOf(account);
    expect(await started.broken()).toBe(problem === undefined ? 0 : 1);
    if (problem !== undefined) expect(await chain(account)).toHaveLength(before);
    return problem;
  }

  /** Takes the account away, so that it isn't found again in the next test. */
  const forget = async (account: string): Promise<void> => {
    await attack(
      register,
      `delete from audit_events where account_id = '${account}'`,
      `delete from audit_heads where account_id = '${account}'`,
    );
    rmSync(join(sealer.headsFolder, `${account}.jsonl`));
  };

  it('can’t edit a sealed entry by mistake: the table refuses', async () => {
    const account = await sealedAccount();
    const edit = register.rows(`update audit_events set route = 'x' where account_id = $1`, [
      account,
    ]);
    await expect(edit).rejects.toThrow('a sealed audit event is never changed');
  });

  it('edits a sealed entry: the log is not whole, there', async () => {
    const account = await sealedAccount();
    await attack(
      register,
      `update audit_events set entry = replace(entry, 'r4', 'x4') where account_id = '${account}' and sequence = 4`,
    );
    expect(await sealer.verify(account)).toMatchObject({ ok: false, first_bad: 4 });
    await forget(account);
  });

  it('removes one from the middle: the log is not whole, there', async () => {
    const account = await sealedAccount();
    await attack(
      register,
      `delete from audit_events where account_id = '${account}' and sequence = 3`,
    );
    expect(await sealer.verify(account)).toMatchObject({ ok: false, first_bad: 3 });
    await forget(account);
  });

  it('edits the last entry: the next round notices, and seals nothing on', async () => {
    const account = await sealedAccount();
    await attack(
      register,
      `update audit_events set entry = replace(entry, 'r6', 'x6') where account_id = '${account}' and sequence = 6`,
    );
    expect(await problemOf(account)).toMatch(/entry 6 does not follow/);
    await forget(account);
  });

  it('cuts the tail, its heads with it: the heads outside tell', async () => {
    const account = await sealedAccount();
    await attack(
      register,
      `delete from audit_events where account_id = '${account}' and sequence > 3`,
      `delete from audit_heads where account_id = '${account}' and sequence > 3`,
    );
    expect(await sealer.verify(account)).toMatchObject({ ok: false, first_bad: 4 });
    expect(await problemOf(account)).toMatch(
      /entry 6 was sealed and exported, and the chain ends with entry 3/,
    );
    await forget(account);
  });

  it('removes everything: the heads outside tell', async () => {
    const account = await sealedAccount();
    await attack(
      register,
      `delete from audit_events where account_id = '${account}'`,
      `delete from audit_heads where account_id = '${account}'`,
    );
    expect(await problemOf(account)).toMatch(
      /entry 6 was sealed and exported, and the chain ends with entry 0/,
    );
    await forget(account);
  });

  it('writes the whole history anew, with hashes that fit: the heads outside tell', async () => {
    const account = await sealedAccount();
    const rewritten = await rewrite(account);
    // What is in the database fits together; only the signatures can't be made anew.
    expect(rewritten).toHaveLength(6);
    expect(await sealer.verify(account)).toMatchObject({ ok: false, first_bad: 3 });
    expect(await problemOf(account)).toMatch(/the newest head is of entry 6|hashes differ/);
    await forget(account);
  });

  it('writes it anew under heads of a key of their own: nobody takes them', async () => {
    const account = await sealedAccount();
    const forger = makeKeys();
    const hashes = (await rewrite(account)).map(({ hash }) => hash);
    const forged = headOf(forger.key, account, 6, hashes);
    await attack(
      register,
      `delete from audit_heads where account_id = '${account}'`,
      `insert into audit_heads values ('${account}', 6, '${JSON.stringify(forged)}')`,
    );
    expect(await sealer.verify(account, [forged])).toMatchObject({
      ok: false,
      signatures: 'invalid',
    });
    expect(await problemOf(account)).toMatch(
      /the signature of head 6 is not one of the known keys/,
    );
    forger.remove();
    await forget(account);
  });

  it('goes back to an older head, and lets the chain grow anew from there: the heads outside tell', async () => {
    const account = await sealedAccount();
    await attack(
      register,
      `delete from audit_events where account_id = '${account}' and sequence > 3`,
      `delete from audit_heads where account_id = '${account}' and sequence > 3`,
    );
    // A sealer that knows no head outside would go on.
    const elsewhere = sealer.again(join(sealer.keys.folder, `elsewhere-${account}`));
    await append(register.pool, account, 'x4', 'x5', 'x6', 'x7');
    await elsewhere.sealAll(account);
    expect(await problemOf(account)).toMatch(/entry 6 is not the one whose head was exported/);
    await forget(account);
  });

  it('appends a forged head to the file outside: it is noticed', async () => {
    const account = await sealedAccount();
    const forger = makeKeys();
    const forged = headOf(forger.key, account, 9, ['0'.repeat(64)]);
    appendFileSync(join(sealer.headsFolder, `${account}.jsonl`), `${JSON.stringify(forged)}\n`);
    expect(await problemOf(account)).toMatch(/the signature of exported head 9/);
    forger.remove();
    await forget(account);
  });

  it('touches nothing: nothing is noticed', async () => {
    const account = await sealedAccount();
    expect(await problemOf(account)).toBeUndefined();
    await forget(account);
  });

  /** The same chain with another route in entry 2, and every hash from there on. */
  async function rewrite(account: string) {
    let previous = chainStart(account);
    const entries = (await chain(account)).map(({ sequence, told }) => {
      const record = {
        ...NOTHING,
        type: told.type,
        at: told.at,
        route: sequence === 2 ? 'never happened' : (told.route ?? null),
      };
      const entry = entryText(account, { sequence, after: previous }, record);
      previous = sha256Hex(entry);
      return { sequence, entry, hash: previous };
    });
    await attack(
      register,
      ...entries.map(
        ({ sequence, entry, hash }) =>
          `update audit_events set entry = '${entry}', hash = '${hash}' where account_id = '${account}' and sequence = ${sequence}`,
      ),
    );
    return entries;
  }
});

const NOTHING = {
  operationId: null,
  from: null,
  to: null,
  principal: null,
  agentRun: null,
  key: null,
  fingerprint: null,
  responseHash: null,
  providerReference: null,
  detail: null,
};
