// Answers that are lost or late. Whatever the provider did, it is asked, and only what it shows decides.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshKey, startSystem, type RunningSystem } from '../support/running-system.ts';

let system: RunningSystem;

beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

/** What every operation is held to: one token, the same bytes, never two writes at a time. */
function kept(key: string, writes: number, effects = 1) {
  return { effects, writes, tokens: [key], bodies: 1, mostInFlight: 1 };
}

const SETTLED_BY_ASKING = ['PENDING', 'IN_PROGRESS', 'UNKNOWN', 'RECONCILING', 'SUCCEEDED'];

const LOSING_MODES = [
  'commit_then_timeout',
  'commit_then_reset',
  'commit_then_500',
  'commit_then_gateway_504_html',
  'commit_then_truncated_body',
  'hang_then_commit',
  'ok_empty_204',
];

describe.concurrent('a payment whose answer was lost after the provider acted', () => {
  it.each(LOSING_MODES)('succeeds with one effect and one write after %s', async (mode) => {
    const key = freshKey();
    await system.provider.script(key, mode);
    const { body } = await system.submit({ key });
    const rest = await system.atRest(body.operation_id);
    expect(rest).toMatchObject({ status: 'SUCCEEDED', provider: { token: key } });
    expect(await system.statesOf(body.operation_id)).toEqual(SETTLED_BY_ASKING);
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject(kept(key, 1));
  });

  it('waits for lookups that are down, and answers repeats with 202 meanwhile', async () => {
    const key = freshKey();
    await system.provider.script(key, 'commit_then_500');
    await system.provider.lookups(key, 'down');
    const { body } = await system.submit({ key });
    await system.untilLookedUp(body.operation_id, 2);
    const again = await system.submit({ key });
    expect(again).toMatchObject({
      status: 202,
      body: { status: 'RECONCILING', operation_id: body.operation_id, next_action: 'poll' },
      headers: { 'operation-disposition': 'in_progress' },
    });
    await system.provider.lookups(key, 'up');
    expect(await system.atRest(body.operation_id)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject(kept(key, 1));
  });

  it('is not sent again while the effect is hidden for less than the send window', async () => {
    const key = freshKey();
    await system.provider.script(key, 'commit_then_reset');
    await system.provider.lookups(key, 'hidden_for', 3_000);
    const { body } = await system.submit({ key });
    expect(await system.atRest(body.operation_id)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject(kept(key, 1));
  });

  it.each([
    ['wrong_amount', 'effect_contrary'],
    ['two_matches', 'effect_ambiguous'],
  ])('goes to a person where a lookup shows %s', async (mode, code) => {
    const key = freshKey();
    await system.provider.script(key, 'commit_then_500');
    await system.provider.lookups(key, mode);
    const { body } = await system.submit({ key });
    expect(await system.atRest(body.operation_id)).toMatchObject({
      status: 'NEEDS_REVIEW',
      error: { code },
    });
    expect(await system.submit({ key })).toMatchObject({
      status: 202,
      body: { next_action: 'contact_operator' },
    });
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject(kept(key, 1));
  });
});

describe.concurrent('a payment that never arrived', () => {
  it('is sent again once, with the same token and bytes, when its absence is certain', async () => {
    const key = freshKey();
    await system.provider.script(key, 'timeout_no_commit');
    const { body } = await system.submit({ key });
    const rest = await system.atRest(body.operation_id);
    expect(rest.status).toBe('SUCCEEDED');
    expect(rest.attempts.map((one) => one.outcome)).toEqual(['unknown', 'succeeded']);
    expect(await system.statesOf(body.operation_id)).toEqual(SETTLED_BY_ASKING);
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject(kept(key, 2));
  });

  it('is FAILED when the resend is lost as well and nothing is there', async () => {
    const key = freshKey();
    const customer_id = `cus-${key}`;
    await system.planFor(customer_id, { reconcile: { send_window_ms: 3_500 } });
    await system.provider.script(key, 'timeout_no_commit', 'timeout_no_commit');
    const { body } = await system.submit({ key, customer_id });
    expect(await system.atRest(body.operation_id)).toMatchObject({
      status: 'FAILED',
      error: { code: 'effect_absent' },
    });
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject(kept(key, 2, 0));
  });

  it('goes on with lookups after a refused resend, which decides nothing', async () => {
    const key = freshKey();
    const customer_id = `cus-${key}`;
    await system.planFor(customer_id, { reconcile: { send_window_ms: 3_500 } });
    await system.provider.script(key, 'timeout_no_commit', 'error_503_not_executed', 'ok');
    const { body } = await system.submit({ key, customer_id });
    // It was open for some 5 s when it was refused, so doubling asks again after about as long.
    const rest = await system.atRest(body.operation_id, 40_000);
    expect(rest.attempts.map((one) => one.outcome)).toEqual(['unknown', 'not_sent', 'succeeded']);
    expect(rest.status).toBe('SUCCEEDED');
    expect(await system.statesOf(body.operation_id)).toEqual(SETTLED_BY_ASKING);
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject(kept(key, 3));
  });
});

describe.concurrent('a payment that the provider accepted and works on', () => {
  it.each([
    ['done', 'SUCCEEDED'],
    ['failed', 'FAILED'],
  ] as const)('is IN_PROGRESS until it is %s there, never UNKNOWN', async (state, settled) => {
    const key = freshKey();
    await system.provider.script(key, 'accepted_async');
    const { body } = await system.submit({ key });
    await system.untilLookedUp(body.operation_id, 2);
    expect((await system.read(body.operation_id)).body.status).toBe('IN_PROGRESS');
    await system.provider.settle(key, state);
    expect(await system.atRest(body.operation_id)).toMatchObject({ status: settled });
    expect(await system.statesOf(body.operation_id)).toEqual(['PENDING', 'IN_PROGRESS', settled]);
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject(
      kept(key, 1, state === 'done' ? 1 : 0),
    );
  });
});

describe.concurrent('a payment that the provider refused before acting', () => {
  it('stays IN_PROGRESS between its tries and succeeds at the third', async () => {
    const key = freshKey();
    await system.planFor(`cus-${key}`, { refusal_delays_ms: [500, 500, 500, 500] });
    await system.provider.script(key, 'error_503_not_executed', 'error_503_not_executed', 'ok');
    const { body } = await system.submit({ key, customer_id: `cus-${key}` });
    const rest = await system.atRest(body.operation_id);
    expect(rest.status).toBe('SUCCEEDED');
    expect(rest.attempts.map((one) => one.outcome)).toEqual(['not_sent', 'not_sent', 'succeeded']);
    expect(await system.statesOf(body.operation_id)).toEqual([
      'PENDING',
      'IN_PROGRESS',
      'SUCCEEDED',
    ]);
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject({
      ...kept(key, 3),
      lookups: 0,
    });
  });

  // The plan's own delays add up to two minutes; here they are frozen shorter, the rest is the real path.
  it('is FAILED as provider_unavailable after five refusals', async () => {
    const key = freshKey();
    await system.planFor(`cus-${key}`, { refusal_delays_ms: [100, 100, 100, 100] });
    await system.provider.script(key, ...Array<string>(5).fill('error_503_not_executed'), 'ok');
    const { body } = await system.submit({ key, customer_id: `cus-${key}` });
    expect(await system.atRest(body.operation_id)).toMatchObject({
      status: 'FAILED',
      error: { code: 'provider_unavailable' },
    });
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject(kept(key, 5, 0));
  });
});
