import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { sandbox } from './client.ts';

const spanOf = (call: Record<string, unknown> = {}) =>
  Date.parse(String(call['ended_at'])) - Date.parse(String(call['started_at']));

describe('the admin side', () => {
  it('says that it is up', async () => {
    const provider = await sandbox();
    expect((await request(`${provider.adminUrl}/healthz`)).statusCode).toBe(200);
  });

  it.each([
    ['/admin/script', { kind: 'payment' }],
    ['/admin/script', { kind: 'payment', modes: ['no_such_mode'] }],
    ['/admin/script', { kind: 'payment', modes: [{ mode: 'ok', surprise: 1 }] }],
    ['/admin/script', { modes: ['ok'] }],
    ['/admin/script', { kind: 'payment', match: [], modes: ['ok'] }],
    ['/admin/sticky', { kind: 'payment', mode: 'up' }],
    ['/admin/lookup', { kind: 'payment', mode: 'hidden_for' }],
    ['/admin/lookup', { kind: 'payment', mode: 'ok' }],
    ['/admin/reset', { what: 'everything' }],
    ['/admin/world', { do: 'no_such_thing' }],
    ['/admin/world', { do: 'token_retention', kind: 'payment' }],
    ['/admin/world', { do: 'person_sets', ticket: 'T-1' }],
    ['/admin/webhooks/deliver', { event: 'payment.succeeded' }],
    ['/admin/webhooks/deliver', { kind: 'payment' }],
    ['/admin/webhooks/deliver', { event: 'p.failed', events: ['p.failed'], kind: 'p' }],
    ['/admin/webhooks/deliver', { event: 'succeeded', kind: 'payment' }],
    ['/admin/webhooks/deliver', { event: 'p.failed', kind: 'p', times: 0 }],
    ['/admin/webhooks/deliver', { event: 'p.failed', kind: 'p', attempt: 'later' }],
    ['/admin/objects/settle', { kind: 'payment', state: 'pending' }],
    ['/admin/reset', 'text'],
  ])('refuses %s %j with a sentence', async (path, body) => {
    const provider = await sandbox();
    const answer = await provider.admin(path, body);
    expect(answer.status).toBe(400);
    expect(answer.error?.message).toMatch(/\w+ /);
  });

  it.each([
    ['/admin/webhooks/deliver', { event: 'payment.succeeded', kind: 'payment' }],
    ['/admin/world', { do: 'seed', resource: 'bucket', name: 'b-1' }],
    ['/admin/world', { do: 'registry', tag: '1', points_to: 'x' }],
    ['/admin/script', { kind: 'payment', modes: ['ok', 'webhook_before_response'] }],
    ['/admin/sticky', { kind: 'payment', mode: 'webhook_before_response' }],
  ])('says of %s %j that it is not offered here', async (path, body) => {
    const provider = await sandbox();
    expect((await provider.admin(path, body)).status).toBe(501);
  });

  it('lists calls from their start, with both ends', async () => {
    const provider = await sandbox();
    await provider.script({ mode: 'delay_then_ok', delay_ms: 80 });
    const open = provider.write({ operationId: 'op-1' });
    await expect.poll(provider.calls).toHaveLength(1);
    expect((await provider.calls())[0]).toMatchObject({ seq: 1, type: 'write', ended_at: null });
    await open;
    await provider.lookup({ token: 't-1' });
    const [write, lookup] = await provider.calls();
    expect(write).toMatchObject({
      kind: 'payment',
      token: 't-1',
      operation_id: 'op-1',
      status: 201,
      mode: 'delay_then_ok',
    });
    expect(spanOf(write)).toBeGreaterThan(75);
    expect(lookup).toMatchObject({
      seq: 2,
      type: 'lookup',
      kind: 'payment',
      token: 't-1',
      operation_id: null,
      request: { token: 't-1' },
    });
  });

  it('shows no credential, nor anything made from one', async () => {
    const provider = await sandbox();
    await provider.write({ credential: 'secret-credential' });
    const shown = JSON.stringify([await provider.effects(), await provider.calls()]);
    expect(shown).not.toContain('secret-credential');
    expect(shown).not.toContain('account');
  });

  it('keeps tokens, effects and calls when faults are reset', async () => {
    const provider = await sandbox();
    await provider.write();
    await provider.admin('/admin/reset', { what: 'faults' });
    expect((await provider.write()).status).toBe(200);
    expect([(await provider.effects()).length, (await provider.calls()).length]).toEqual([1, 2]);
  });
});
