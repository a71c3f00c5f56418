import { describe, expect, it } from 'vitest';
import { errorCodeOf, PAYMENT, sandbox } from './client.ts';

const invoice = (name: string) => ({ ...PAYMENT, invoice: name });

describe('which write meets a fault', () => {
  it('uses a script up in order, then goes on with ok', async () => {
    const provider = await sandbox();
    await provider.script('error_503_not_executed', 'error_503_not_executed', 'ok');
    const statuses = [];
    for (let n = 0; n < 4; n++) statuses.push((await provider.write()).status);
    expect(statuses).toEqual([503, 503, 201, 200]);
  });

  it('leaves a mode that acts to the next fresh token', async () => {
    const provider = await sandbox();
    await provider.write();
    await provider.script('decline');
    expect((await provider.write()).status).toBe(200);
    expect((await provider.write({ token: 't-2' })).status).toBe(402);
  });

  it('leaves a mode that acts alone while the token is in use', async () => {
    const provider = await sandbox();
    await provider.script({ mode: 'delay_then_ok', delay_ms: 100 }, 'commit_then_500');
    const first = provider.write();
    await expect.poll(provider.calls).toHaveLength(1);
    expect((await provider.write()).code).toBe('token_in_use');
    expect((await first).status).toBe(201);
    expect((await provider.write({ token: 't-2' })).status).toBe(500);
  });

  it('concerns only writes of its kind that hold one of its texts', async () => {
    const provider = await sandbox();
    await provider.admin('/admin/script', {
      kind: 'payment',
      match: ['r1', 'op-9', 'tok-x'],
      modes: Array(4).fill('decline'),
    });
    const statusOf = async (wanted: object) => (await provider.write(wanted)).status;
    expect(await statusOf({ token: 'a', body: invoice('inv-r2') })).toBe(201);
    expect(await statusOf({ token: 'b', kind: 'note', body: invoice('inv-r1') })).toBe(201);
    expect(await statusOf({ token: 'c', body: invoice('inv-r1') })).toBe(402);
    expect(await statusOf({ token: 'd', operationId: 'op-9' })).toBe(402);
    expect(await statusOf({ token: 'tok-x' })).toBe(402);
  });

  it('replaces what is left for the same kind and texts only', async () => {
    const provider = await sandbox();
    const script = (match: string[], modes: string[]) =>
      provider.admin('/admin/script', { kind: 'payment', match, modes });
    await script(['r1'], ['not_found_404']);
    await script(['r2'], ['not_found_404']);
    await script(['r1'], ['conflict_in_progress']);
    expect((await provider.write({ token: 'a', body: invoice('r1') })).status).toBe(409);
    expect((await provider.write({ token: 'b', body: invoice('r1') })).status).toBe(201);
    expect((await provider.write({ token: 'c', body: invoice('r2') })).status).toBe(404);
  });

  it('plays a sticky mode on every write once the script is used up, until reset', async () => {
    const provider = await sandbox();
    await provider.admin('/admin/sticky', { kind: 'payment', mode: 'error_503_not_executed' });
    await provider.script('decline');
    const statusOf = async (token: string) => (await provider.write({ token })).status;
    expect([await statusOf('a'), await statusOf('b'), await statusOf('b')]).toEqual([
      402, 503, 503,
    ]);
    await provider.admin('/admin/reset', { what: 'faults' });
    expect([await statusOf('b'), await statusOf('a')]).toEqual([201, 402]);
  });

  it('takes the delay of a sticky mode', async () => {
    const provider = await sandbox();
    const delay = { kind: 'payment', mode: 'delay_then_ok', delay_ms: 60 };
    await provider.admin('/admin/sticky', delay);
    const start = performance.now();
    await provider.write();
    expect(performance.now() - start).toBeGreaterThan(55);
  });
});

/** A provider with one payment of token t-1, whose lookups are in this mode. */
async function ask(mode: object) {
  const provider = await sandbox();
  const { id, body } = await provider.write();
  await provider.admin('/admin/lookup', { kind: 'payment', ...mode });
  return { provider, id, body, look: () => provider.lookup({ token: 't-1' }) };
}

describe('lookups', () => {
  it('find the object at once, by token and by reference', async () => {
    const { provider, id, body, look } = await ask({ mode: 'up' });
    expect((await look()).body).toEqual({ data: [body] });
    expect((await provider.lookup({ reference: id })).data).toEqual([body]);
    expect((await provider.lookup({ token: 't-1' }, 'acct', 'ticket')).data).toEqual([]);
    expect((await provider.lookup({ token: 'never' })).data).toEqual([]);
  });

  it.each([{}, { token: '' }, { token: 'a', reference: 'b' }, { since: 'x' }])(
    'refuse the question %j',
    async (query) => {
      const provider = await sandbox();
      const answer = await provider.lookup(query);
      expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
    },
  );

  it('down: are answered 503 and cut off in turn, until the newest setting says up', async () => {
    const { provider, look } = await ask({ mode: 'down' });
    expect((await look()).status).toBe(503);
    expect(await errorCodeOf(look())).toBe('UND_ERR_SOCKET');
    expect((await look()).status).toBe(503);
    await provider.admin('/admin/lookup', { kind: 'payment', match: ['inv-1'], mode: 'up' });
    expect((await look()).data).toHaveLength(1);
  });

  it('hidden_for: show nothing for a while, then everything', async () => {
    const { look } = await ask({ mode: 'hidden_for', ms: 120 });
    expect((await look()).data).toEqual([]);
    await expect.poll(async () => (await look()).data).toHaveLength(1);
  });

  it('wrong_amount: show another amount', async () => {
    const { look, id } = await ask({ mode: 'wrong_amount' });
    expect((await look()).data).toMatchObject([{ ...PAYMENT, id, amount: '1001' }]);
  });

  it('two_matches: show two objects of one token', async () => {
    const { look } = await ask({ mode: 'two_matches' });
    const { data } = await look();
    expect(data.map((one) => one.token)).toEqual(['t-1', 't-1']);
    expect(new Set(data.map((one) => one.id)).size).toBe(2);
  });

  it('meet a fault that is meant for the write they ask about, even one that was not carried out', async () => {
    const provider = await sandbox();
    await provider.script('error_503_not_executed');
    await provider.write({ token: 'a', body: invoice('inv-r1') });
    const acted = await provider.write({ token: 'b', body: invoice('inv-r1') });
    await provider.write({ token: 'c', body: invoice('inv-r2') });
    await provider.admin('/admin/lookup', { kind: 'payment', match: ['r1'], mode: 'down' });
    expect((await provider.lookup({ token: 'a' })).status).toBe(503);
    expect(await errorCodeOf(provider.lookup({ reference: acted.id }))).toBeDefined();
    expect((await provider.lookup({ token: 'c' })).status).toBe(200);
  });

  it('show an object only after the visibility lag', async () => {
    const provider = await sandbox({ visibilityLagMs: 120 });
    await provider.write();
    const look = async () => (await provider.lookup({ token: 't-1' })).data;
    expect(await look()).toEqual([]);
    await expect.poll(look).toHaveLength(1);
    await provider.admin('/admin/world', { do: 'visibility_lag', kind: 'payment', ms: 60_000 });
    expect(await look()).toEqual([]);
  });
});

describe('the token retention', () => {
  it('makes a repeat a new effect once it is over, with both found under the token', async () => {
    const provider = await sandbox();
    const first = await provider.write();
    await provider.admin('/admin/world', {
      do: 'token_retention',
      kind: 'payment',
      match: ['inv-1'],
      hours: 0,
    });
    const second = await provider.write();
    expect(second.status).toBe(201);
    expect(second.id).not.toBe(first.id);
    expect((await provider.lookup({ token: 't-1' })).data).toHaveLength(2);
    await provider.admin('/admin/reset', { what: 'faults' });
    expect((await provider.write()).body).toEqual(second.body);
  });
});
