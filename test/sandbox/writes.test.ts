import { describe, expect, it } from 'vitest';
import { errorCodeOf, PAYMENT, sandbox } from './client.ts';

describe('a write', () => {
  it('answers with the object and what was asked for', async () => {
    const provider = await sandbox();
    const answer = await provider.write({ operationId: 'op-1' });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      ...PAYMENT,
      object: 'payment',
      state: 'done',
      token: 't-1',
    });
    expect(answer.id).toMatch(/^pay_[0-9a-f]{24}$/);
    expect(await provider.effects()).toMatchObject([
      {
        seq: 1,
        id: answer.id,
        kind: 'payment',
        token: 't-1',
        operation_id: 'op-1',
        state: 'done',
        amount_minor: '1000',
        amount_sent: '1000',
        request: PAYMENT,
      },
    ]);
  });

  it('gives the first answer again for the same token, and acts once', async () => {
    const provider = await sandbox();
    const first = await provider.write();
    const again = await provider.write({
      body: Object.fromEntries(Object.entries(PAYMENT).toReversed()),
    });
    expect(again.status).toBe(200);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body).toEqual(first.body);
    expect(await provider.effects()).toHaveLength(1);
  });

  it('refuses the same token with another request, or of another kind', async () => {
    const provider = await sandbox();
    await provider.write();
    const other = await provider.write({ body: { ...PAYMENT, amount: '1001' } });
    const kind = await provider.write({ kind: 'note' });
    for (const answer of [other, kind]) {
      expect([answer.status, answer.code]).toEqual([409, 'token_parameter_mismatch']);
    }
    expect(await provider.effects()).toHaveLength(1);
  });

  it('keeps tokens apart by credential', async () => {
    const provider = await sandbox();
    const [a, b] = [await provider.write(), await provider.write({ credential: 'other' })];
    expect(b.status).toBe(201);
    expect(b.id).not.toBe(a.id);
    expect((await provider.lookup({ token: 't-1' }, 'other')).data).toMatchObject([{ id: b.id }]);
    expect((await provider.lookup({ reference: a.id }, 'other')).data).toEqual([]);
  });

  it('has one effect after 20 equal writes at once', async () => {
    const provider = await sandbox();
    const answers = await Promise.all(Array.from({ length: 20 }, () => provider.write()));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(await provider.effects()).toHaveLength(1);
  });

  it('has one effect after 20 equal writes at once that take long, and says that the token is in use', async () => {
    const provider = await sandbox();
    await provider.script({ mode: 'delay_then_ok', delay_ms: 150 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => provider.write()));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status === 409);
    expect(refused.map(({ code }) => code)).toEqual(Array(19).fill('token_in_use'));
    expect(await provider.effects()).toHaveLength(1);
    expect((await provider.write()).status).toBe(200);
  });

  it.each([
    ['no token', { token: '' }, 400, 'token_invalid'],
    ['a token of 256 characters', { token: 'x'.repeat(256) }, 400, 'token_invalid'],
    ['an amount that is a number', { body: { ...PAYMENT, amount: 1000 } }, 400, 'invalid_request'],
    ['a list for a body', { body: [] }, 400, 'invalid_request'],
    ['a kind that is no name', { kind: 'No-Kind' }, 404, 'unknown_route'],
  ])('refuses %s and remembers nothing', async (_, wanted, status, code) => {
    const provider = await sandbox();
    const answer = await provider.write(wanted);
    expect([answer.status, answer.code]).toEqual([status, code]);
    expect(answer.error?.message).toBeTypeOf('string');
    expect(await provider.effects()).toEqual([]);
    expect((await provider.write()).status).toBe(201);
  });

  it('refuses a call without a token or credential', async () => {
    const provider = await sandbox();
    const bare = (headers: Record<string, string>) =>
      fetch(`${provider.url}/v1/payment`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(PAYMENT),
      });
    expect((await bare({ 'idempotency-token': 't-1' })).status).toBe(401);
    const answer = await bare({ authorization: 'Bearer acct' });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: 'token_missing' } });
  });
});

describe('modes that say how a write is carried out', () => {
  it('declines, says so again for that token, and shows the object as failed', async () => {
    const provider = await sandbox();
    await provider.script('decline', 'ok');
    const first = await provider.write();
    const again = await provider.write();
    expect([first.status, first.code]).toEqual([402, 'card_declined']);
    expect([again.status, again.text]).toEqual([402, first.text]);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect((await provider.lookup({ token: 't-1' })).data).toMatchObject([{ state: 'failed' }]);
    expect((await provider.write({ token: 't-2' })).status).toBe(201);
  });

  it('says the same 500 again for a token whose 500 is kept, and never acts', async () => {
    const provider = await sandbox();
    await provider.script('error_500_cached');
    const [first, again] = [await provider.write(), await provider.write()];
    expect([first.status, again.status]).toEqual([500, 500]);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(await provider.effects()).toEqual([]);
    expect((await provider.lookup({ token: 't-1' })).data).toEqual([]);
  });

  it.each(['done', 'failed'] as const)(
    'accepts now and is %s when told so, the repeat staying as it was',
    async (state) => {
      const provider = await sandbox();
      await provider.script('accepted_async');
      const first = await provider.write();
      expect(first.status).toBe(202);
      expect(first.body).toMatchObject({ state: 'pending', token: 't-1' });
      expect((await provider.lookup({ token: 't-1' })).data).toMatchObject([{ state: 'pending' }]);
      const wanted = { kind: 'payment', token: 't-1', state };
      const settled = await provider.admin('/admin/objects/settle', wanted);
      expect(settled.body).toEqual({ settled: [first.id] });
      expect((await provider.admin('/admin/objects/settle', wanted)).body).toEqual({ settled: [] });
      expect((await provider.lookup({ token: 't-1' })).data).toMatchObject([{ state }]);
      expect(await provider.effects()).toMatchObject([{ state }]);
      expect([(await provider.write()).status, (await provider.write()).text]).toEqual([
        202,
        first.text,
      ]);
    },
  );

  it('acts and answers without a body', async () => {
    const provider = await sandbox();
    await provider.script('ok_empty_204');
    for (const answer of [await provider.write(), await provider.write()]) {
      expect([answer.status, answer.text]).toEqual([204, '']);
    }
    expect(await provider.effects()).toMatchObject([{ state: 'done' }]);
  });

  it('shows nothing until a delayed write has acted', async () => {
    const provider = await sandbox();
    await provider.script({ mode: 'delay_then_ok', delay_ms: 100 });
    const pending = provider.write();
    await expect.poll(provider.calls).toMatchObject([{ type: 'write', ended_at: null }]);
    expect((await provider.lookup({ token: 't-1' })).data).toEqual([]);
    expect((await pending).status).toBe(201);
    expect((await provider.lookup({ token: 't-1' })).data).toHaveLength(1);
  });

  it('acts late although its caller has gone, with the token in use until then', async () => {
    const provider = await sandbox({ hangMs: 150 });
    await provider.script('hang_then_commit', 'conflict_in_progress', 'ok');
    expect(await errorCodeOf(provider.write({ deadlineMs: 40 }))).toBeDefined();
    const [scripted, inUse] = [await provider.write(), await provider.write()];
    for (const answer of [scripted, inUse]) {
      expect([answer.status, answer.code]).toEqual([409, 'token_in_use']);
    }
    expect(await provider.effects()).toEqual([]);
    await expect.poll(provider.effects).toHaveLength(1);
    expect((await provider.write()).status).toBe(200);
    expect(await provider.effects()).toHaveLength(1);
  });
});

describe('modes that act and lose the answer', () => {
  it.each([
    ['commit_then_timeout', 'UND_ERR_SOCKET'],
    ['commit_then_reset', 'ECONNRESET'],
    ['commit_then_truncated_body', 'UND_ERR_SOCKET'],
  ])('%s: breaks off, and keeps one effect when the token repeats', async (mode, code) => {
    const provider = await sandbox();
    await provider.script(mode);
    expect(await errorCodeOf(provider.write())).toBe(code);
    const again = await provider.write();
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([200, 'true']);
    expect(await provider.effects()).toMatchObject([{ id: again.id, state: 'done' }]);
  });

  it.each([
    ['commit_then_500', 500, /internal_error/],
    ['commit_then_gateway_504_html', 504, /^<html>/],
  ])(
    '%s: answers wrongly, and keeps one effect when the token repeats',
    async (mode, status, text) => {
      const provider = await sandbox();
      await provider.script(mode);
      const lost = await provider.write();
      expect(lost.status).toBe(status);
      expect(lost.text).toMatch(text);
      expect((await provider.write()).status).toBe(200);
      expect(await provider.effects()).toHaveLength(1);
    },
  );

  it('holds the call open until the caller gives up', async () => {
    const provider = await sandbox({ holdMs: 60_000 });
    await provider.script('commit_then_timeout');
    expect(await errorCodeOf(provider.write({ deadlineMs: 60 }))).toBeDefined();
    await expect
      .poll(provider.calls)
      .toMatchObject([{ status: null, ended_at: expect.any(String) }]);
    expect(await provider.effects()).toHaveLength(1);
  });

  it('loses the answer of a repeat too, without acting again', async () => {
    const provider = await sandbox();
    await provider.script('commit_then_500', 'commit_then_reset');
    await provider.write();
    expect(await errorCodeOf(provider.write())).toBe('ECONNRESET');
    expect((await provider.write()).status).toBe(200);
    expect(await provider.effects()).toHaveLength(1);
  });
});

describe('modes that only say something', () => {
  it.each([
    ['error_503_not_executed', 503, 'not_executed'],
    ['conflict_in_progress', 409, 'token_in_use'],
    ['param_mismatch', 409, 'token_parameter_mismatch'],
    ['already_exists', 409, 'already_exists'],
    ['already_owned_by_you', 409, 'already_owned_by_you'],
    ['not_found_404', 404, 'not_found'],
  ])('%s: acts not, and the next write with the token does', async (mode, status, code) => {
    const provider = await sandbox();
    await provider.script(mode, 'ok');
    const refused = await provider.write();
    expect([refused.status, refused.code]).toEqual([status, code]);
    expect(refused.error?.['existing_id']).toBeUndefined();
    expect(refused.headers['not-executed']).toBe(status === 503 ? 'true' : undefined);
    expect(await provider.effects()).toEqual([]);
    expect((await provider.write()).status).toBe(201);
    expect(await provider.effects()).toHaveLength(1);
  });

  it('swallows a write without acting, and acts on the next', async () => {
    const provider = await sandbox();
    await provider.script('timeout_no_commit', 'ok');
    expect(await errorCodeOf(provider.write())).toBe('UND_ERR_SOCKET');
    expect(await provider.effects()).toEqual([]);
    expect((await provider.write()).status).toBe(201);
  });

  it('refuses a repeat whose first call acted, and names what exists', async () => {
    const provider = await sandbox();
    const modes = [
      'commit_then_500',
      'error_503_not_executed',
      'already_exists',
      'already_owned_by_you',
    ];
    await provider.script(...modes);
    await provider.write();
    const id = (await provider.effects())[0]?.['id'];
    expect((await provider.write()).status).toBe(503);
    for (const code of ['already_exists', 'already_owned_by_you']) {
      expect((await provider.write()).error).toMatchObject({ code, existing_id: id });
    }
    expect((await provider.write()).body).toMatchObject({ id });
    expect(await provider.effects()).toHaveLength(1);
  });
});
