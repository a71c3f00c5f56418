// Payments that a person must decide about. Nothing is sent for them, and the database clock says when nobody came in time.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshKey, startSystem, type RunningSystem } from '../support/running-system.ts';
import { until } from '../support/until.ts';

let system: RunningSystem;

beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

const LARGE = { amount: '1000.00', currency: 'USD' };

describe('a payment from 1,000.00 USD on', () => {
  it('waits for approval, and nothing is sent for it', async () => {
    const key = freshKey();
    const { status, body } = await system.submit({ key, ...LARGE, wait: 30 });
    expect({ status, state: body.status }).toEqual({ status: 202, state: 'AWAITING_APPROVAL' });
    // Its run is open and waits; a payment that came after it is through, and this one still was not sent.
    await expect.poll(async () => (await system.runOf(key).describe()).status.name).toBe('RUNNING');
    expect((await system.submit({ wait: 30 })).body.status).toBe('SUCCEEDED');
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject({ writes: 0, lookups: 0 });
    expect(await system.statusOf(body.operation_id)).toBe('AWAITING_APPROVAL');
    expect(await system.submit({ key, ...LARGE })).toMatchObject({ status: 202 });
  });

  it('is sent once it was approved: 5,000.00 USD reach the provider, once', async () => {
    const key = freshKey();
    const wanted = { key, amount: '5000.00' };
    const { body } = await system.submit(wanted);
    expect(await system.submit(wanted)).toMatchObject({
      status: 202,
      body: { approval: body.approval },
    });
    expect(await system.submit({ ...wanted, amount: '50000.00' })).toMatchObject({ status: 409 });
    expect(await system.decide(body)).toMatchObject({ status: 200 });
    expect(await system.atRest(body.operation_id)).toMatchObject({
      status: 'SUCCEEDED',
      approval: { status: 'approved' },
    });
    const { writes, effects, tokens } = await system.provider.sawOf(body.operation_id);
    expect({ writes, effects, tokens }).toEqual({ writes: 1, effects: 1, tokens: [key] });
    expect(await system.statesOf(body.operation_id)).toEqual([
      'AWAITING_APPROVAL',
      'IN_PROGRESS',
      'SUCCEEDED',
    ]);
  });

  it('is not sent when its agent decides, nor when somebody of another account does', async () => {
    const { body } = await system.submit(LARGE);
    expect(await system.decide(body, 'approve', { person: 'agent' })).toMatchObject({
      status: 403,
    });
    expect(await system.decide(body, 'approve', { account: 'acct_b' })).toMatchObject({
      status: 404,
    });
    expect(await system.statusOf(body.operation_id)).toBe('AWAITING_APPROVAL');
  });

  it('is EXPIRED by the database clock when nobody decides, and gives its invoice back', async () => {
    const hasty = await system.startApi({ APPROVAL_TTL_MS: '700' });
    const key = freshKey();
    const { body } = await system.submit({ key, ...LARGE, api: hasty.url });
    expect(await system.atRest(body.operation_id)).toMatchObject({
      status: 'EXPIRED',
      error: { code: 'approval_expired' },
      next_action: 'contact_operator',
    });
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject({ writes: 0 });
    const next = await system.submit({ invoice_id: `inv-${key}`, wait: 30 });
    expect(next.body.status).toBe('SUCCEEDED');
  });

  it('is EXPIRED by the sweep where no timer of the engine fires', async () => {
    const { body } = await system.submit(LARGE);
    await system.pool.query(
      `update approvals set expires_at = holdfast_now() where operation_id = $1`,
      [body.operation_id],
    );
    await system.sweepNow(body.operation_id);
    expect(await system.atRest(body.operation_id)).toMatchObject({ status: 'EXPIRED' });
  });

  it('is sent at 999.99 USD without anybody being asked', async () => {
    const { body } = await system.submit({ amount: '999.99', wait: 30 });
    expect(body.status).toBe('SUCCEEDED');
  });
});

describe('the policy file', () => {
  it('decides at an API that is given it, and its next version from SIGHUP on', async () => {
    const file = join(system.home, 'policy.yaml');
    const saying = (verdict: string) =>
      `policy_format: 1\nrules:\n  - { name: all, when: {}, verdict: ${verdict}, reason: for this test }\n`;
    writeFileSync(file, saying('deny'));
    const api = await system.startApi({ POLICY_FILE: file });
    const key = freshKey();
    const denied = await system.submit({ key, api: api.url });
    expect(denied).toMatchObject({ status: 403, body: { code: 'policy_denied' } });
    writeFileSync(file, saying('require_approval'));
    api.signal('SIGHUP');
    await until('the new file is in force', async () => {
      const { status, body } = await system.submit({ key, api: api.url });
      return status === 202 && body.status === 'AWAITING_APPROVAL';
    });
    writeFileSync(file, 'rules: none\n');
    api.signal('SIGHUP');
    await until('the fault is shown', async () => {
      const ready = await fetch(`${api.url}/readyz`);
      const { policy } = (await ready.json()) as { policy: boolean };
      return ready.ok && !policy;
    });
    expect((await system.submit({ ...LARGE, api: api.url })).body.status).toBe('AWAITING_APPROVAL');
  });
});
