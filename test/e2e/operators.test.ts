// What operators do, with the engine and a worker running: have the provider asked, settle by hand, hold and let go.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CredentialsFile } from '../../src/bootstrap/first-credentials.ts';
import { freshKey, startSystem, type RunningSystem } from '../support/running-system.ts';

let system: RunningSystem;
let credentials: CredentialsFile;

beforeAll(async () => {
  system = await startSystem();
  credentials = JSON.parse(readFileSync(join(system.home, 'credentials.json'), 'utf8'));
  // Nothing looks by itself within the patience of a test.
  await system.planFor('cus_quiet', { reconcile: { first_look_ms: 3_600_000 } });
});
afterAll(() => system.stop());

async function post(path: string, body?: object, as = 'operator') {
  const answer = await request(`${system.apis[0]?.url}/operator/${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${credentials.accounts['acct_a']?.[as]?.token}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    body: body ? JSON.stringify(body) : null,
    reset: true,
  });
  return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> };
}

const YES = { outcome: 'succeeded', evidence: 'seen in the provider’s list' };
const NO = { outcome: 'failed', evidence: 'not in the provider’s list' };

describe.concurrent('an operator', () => {
  it('has the provider asked at once, and what it shows settles the operation', async () => {
    const key = freshKey();
    await system.provider.script(key, 'commit_then_500');
    const { body } = await system.submit({ key, customer_id: 'cus_quiet' });
    await system.untilStatus(body.operation_id, 'UNKNOWN', 'RECONCILING');
    expect((await system.provider.sawOf(body.operation_id)).lookups).toBe(0);
    const answer = await post(`operations/${body.operation_id}/reconcile`);
    expect(answer.status).toBe(202);
    expect(await system.atRest(body.operation_id, 15_000)).toMatchObject({ status: 'SUCCEEDED' });
    expect((await system.provider.sawOf(body.operation_id)).lookups).toBe(1);
  });

  it('settles an open operation by hand; its workflows see it and end', async () => {
    const key = freshKey();
    await system.provider.script(key, 'commit_then_500');
    const { body } = await system.submit({ key, customer_id: 'cus_quiet' });
    await system.untilStatus(body.operation_id, 'UNKNOWN', 'RECONCILING');
    const wish = { ...YES, provider_reference: 'pay_by_hand' };
    const answer = await post(`operations/${body.operation_id}/resolve`, wish);
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'SUCCEEDED', provider: { reference: 'pay_by_hand' } },
    });
    const reconciliation = system.reconciliationOf(body.operation_id).workflowId;
    expect(await system.untilClosed(system.runOf(key).workflowId)).toBe('COMPLETED');
    expect(await system.untilClosed(reconciliation)).toBe('COMPLETED');
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject({ writes: 1, lookups: 0 });
  });

  it('can’t call failed what the provider shows, but can name the effect that counts', async () => {
    const key = freshKey();
    await system.provider.script(key, 'commit_then_500');
    await system.provider.lookups(key, 'two_matches');
    const { body } = await system.submit({ key });
    expect(await system.atRest(body.operation_id)).toMatchObject({ status: 'NEEDS_REVIEW' });
    const path = `operations/${body.operation_id}`;
    const before = (await system.provider.sawOf(body.operation_id)).lookups;
    await post(`${path}/reconcile`);
    await system.untilLookedUp(body.operation_id, before + 1);
    const refused = await post(`${path}/resolve`, NO);
    expect(['not_resolvable', 'lookup_required']).toContain(refused.body['code']);
    const effects = await system.provider.effects();
    const reference = effects.find((one) => one.operation_id === body.operation_id)?.id;
    expect(await post(`${path}/resolve`, { ...YES, provider_reference: reference })).toMatchObject({
      status: 200,
      body: { status: 'SUCCEEDED', provider: { reference } },
    });
  });
});

describe('a pause', () => {
  it('sends nothing until it is resumed, and then sends what had waited', async () => {
    expect(await post('connections/sandbox_acct_a/pause')).toMatchObject({
      status: 200,
      body: { held: true },
    });
    const { body } = await system.submit();
    expect((await system.submit({ account: 'acct_b', wait: 30 })).body.status).toBe('SUCCEEDED');
    expect(await system.statusOf(body.operation_id)).toBe('PENDING');
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject({ writes: 0 });
    expect((await post('connections/sandbox_acct_a/resume')).body).toMatchObject({ held: false });
    expect(await system.atRest(body.operation_id)).toMatchObject({ status: 'SUCCEEDED' });
  });
});
