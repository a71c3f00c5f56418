// One payment from HTTP to the provider and back, through two API processes and a worker, over the network all the way.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshKey, startSystem, type RunningSystem } from '../support/running-system.ts';

let system: RunningSystem;

beforeAll(async () => {
  system = await startSystem({ apis: 2 });
});
afterAll(() => system.stop());

const ONE_WRITE = { effects: 1, writes: 1, bodies: 1, mostInFlight: 1 };

describe.concurrent('a payment', () => {
  it('succeeds with one effect whose token is the idempotency key', async () => {
    const key = freshKey();
    const { status, headers, body } = await system.submit({ key, wait: 30 });
    expect({ status, disposition: headers['operation-disposition'] }).toEqual({
      status: 200,
      disposition: 'created',
    });
    expect(body).toMatchObject({ status: 'SUCCEEDED', provider: { token: key } });
    expect(body.attempts.map((one) => one.outcome)).toEqual(['succeeded']);
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject({
      ...ONE_WRITE,
      tokens: [key],
      lookups: 0,
    });
    expect(await system.statesOf(body.operation_id)).toEqual([
      'PENDING',
      'IN_PROGRESS',
      'SUCCEEDED',
    ]);
  });

  it('reaches the provider with the amount in minor units', async () => {
    const key = freshKey();
    const { body } = await system.submit({ key, amount: '12.30', wait: 30 });
    const effects = await system.provider.effects();
    expect(effects.find((one) => one.token === key)).toMatchObject({
      operation_id: body.operation_id,
      amount_minor: '1230',
      id: body.provider.reference,
    });
  });

  it('is one operation with one effect when it is submitted 20 times at once through two APIs', async () => {
    const key = freshKey();
    const urls = system.apis.map((one) => one.url);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        system.submit({ key, wait: 30, ...(urls[n % 2] ? { api: urls[n % 2] } : {}) }),
      ),
    );
    expect(new Set(answers.map((one) => one.status))).toEqual(new Set([200]));
    expect(new Set(answers.map((one) => one.text)).size).toBe(1);
    const dispositions = answers.map((one) => one.headers['operation-disposition']);
    expect(dispositions.filter((one) => one === 'created')).toHaveLength(1);
    const [first] = answers;
    expect(await system.provider.sawOf(first?.body.operation_id ?? '')).toMatchObject({
      ...ONE_WRITE,
      tokens: [key],
    });
    const { rows } = await system.pool.query(
      'select 1 from operations where idempotency_key = $1',
      [key],
    );
    expect(rows).toHaveLength(1);
  });

  it('is answered with the stored bytes when its key repeats', async () => {
    const key = freshKey();
    const first = await system.submit({ key, wait: 30 });
    const again = await system.submit({ key });
    expect(again).toMatchObject({
      status: 200,
      text: first.text,
      headers: { 'operation-disposition': 'replayed', 'idempotent-replayed': 'true' },
    });
    expect((await system.read(first.body.operation_id)).text).toBe(first.text);
  });

  it('keeps its key apart from the same key of another account', async () => {
    const key = freshKey();
    const [ours, theirs] = await Promise.all([
      system.submit({ key, wait: 30 }),
      system.submit({ key, wait: 30, account: 'acct_b' }),
    ]);
    expect([ours.body.status, theirs.body.status]).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    expect(theirs.body.operation_id).not.toBe(ours.body.operation_id);
    expect((await system.read(ours.body.operation_id, { account: 'acct_b' })).status).toBe(404);
  });
});

describe.concurrent('a declined payment', () => {
  it('is FAILED, is replayed, and is never sent again', async () => {
    const key = freshKey();
    await system.provider.script(key, 'decline');
    const { body, text } = await system.submit({ key, wait: 30 });
    expect(body).toMatchObject({ status: 'FAILED', error: { code: 'provider_declined' } });
    const again = await system.submit({ key, wait: 30 });
    expect(again).toMatchObject({ status: 200, text });
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject({
      effects: 0,
      writes: 1,
    });
  });

  it('gives its invoice back to a new key, which pays it', async () => {
    const [key, next] = [freshKey(), freshKey()];
    const invoice_id = `inv-${key}`;
    await system.provider.script(key, 'decline');
    const failed = await system.submit({ key, invoice_id, wait: 30 });
    expect(failed.body.status).toBe('FAILED');
    const paid = await system.submit({ key: next, invoice_id, wait: 30 });
    expect(paid.body.status).toBe('SUCCEEDED');
    const third = await system.submit({ invoice_id });
    expect(third).toMatchObject({ status: 409, body: { code: 'business_duplicate' } });
  });
});
