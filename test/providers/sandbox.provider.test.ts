// The adapter against the real sandbox over real sockets. The client's deadline is short where an answer is to be lost, so that no test
// waits for seconds.
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import type { LookupAnswer, WriteOutcome } from '../../src/domain/outcome.ts';
import { freePort } from '../../src/supervisor/probes.ts';
import { connectProviders } from '../../src/providers/connected-providers.ts';
import type { ProviderContact } from '../../src/providers/provider.ts';
import { sandboxProvider } from '../../src/providers/sandbox/sandbox.provider.ts';
import { sandbox } from '../sandbox/client.ts';

const COMMAND = {
  amount: '10.00',
  currency: 'USD',
  customer_id: 'cus_1',
  invoice_id: 'inv-1',
  capture: 'automatic',
};
const requestBody = sandboxProvider.requestFor('payment', COMMAND, null);

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A provider that answers every request alike. */
async function answering(
  status: number,
  body: string,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status, headers).end(body);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address ? `http://127.0.0.1:${address.port}` : '';
}

function contact(baseUrl: string, members: Partial<ProviderContact> = {}): ProviderContact {
  return {
    baseUrl,
    credential: 'acct',
    operationId: 'op_1',
    kind: 'payment',
    token: 't-1',
    requestBody,
    traceparent: null,
    deadlineMs: 2_000,
    ...members,
  };
}

async function provider() {
  const one = await sandbox();
  return {
    ...one,
    send: (members: Partial<ProviderContact> = {}): Promise<WriteOutcome> =>
      sandboxProvider.write(contact(one.url, members)),
    ask: (members: Partial<ProviderContact<string | null>> = {}): Promise<LookupAnswer> =>
      sandboxProvider.lookUp({ ...contact(one.url), ...members }),
    lookupMode: (mode: string, more: object = {}) =>
      one.admin('/admin/lookup', { kind: 'payment', mode, ...more }),
  };
}

describe('a write', () => {
  it('succeeds with the provider’s reference', async () => {
    const one = await provider();
    const outcome = await one.send();
    const [effect] = await one.effects();
    expect(outcome).toMatchObject({
      status: 'succeeded',
      reference: effect?.['id'],
      result: { payment_id: effect?.['id'], payment_state: 'captured' },
      evidence: { http_status: 201 },
    });
  });

  it('succeeds as authorized where the capture is manual', async () => {
    const one = await provider();
    const body = sandboxProvider.requestFor('payment', { ...COMMAND, capture: 'manual' }, null);
    expect(await one.send({ requestBody: body })).toMatchObject({
      status: 'succeeded',
      result: { payment_state: 'authorized' },
    });
  });

  it('succeeds with the first answer where the same token repeats, and acts once', async () => {
    const one = await provider();
    const first = await one.send();
    const again = await one.send();
    expect(again).toMatchObject({
      status: 'succeeded',
      reference: first.status === 'succeeded' ? first.reference : '',
    });
    expect(await one.effects()).toHaveLength(1);
  });

  it('carries token, operation id and the stored bytes as they are', async () => {
    const one = await provider();
    await one.send({ token: 'tok-9', operationId: 'op_9' });
    expect(await one.effects()).toMatchObject([
      { token: 'tok-9', operation_id: 'op_9', request: JSON.parse(requestBody) },
    ]);
  });

  it.each([
    ['ok', 'succeeded', undefined],
    ['delay_then_ok', 'succeeded', undefined],
    ['decline', 'failed', undefined],
    ['error_503_not_executed', 'not_sent', 'provider_refused'],
    ['accepted_async', 'pending', undefined],
    ['commit_then_reset', 'unknown', 'lost_answer'],
    ['commit_then_truncated_body', 'unknown', 'lost_answer'],
    ['commit_then_500', 'unknown', 'unclear_answer'],
    ['commit_then_gateway_504_html', 'unknown', 'unclear_answer'],
    ['error_500_cached', 'unknown', 'unclear_answer'],
    ['ok_empty_204', 'unknown', 'unclear_answer'],
    ['not_found_404', 'unknown', 'unclear_answer'],
    ['conflict_in_progress', 'unknown', 'in_use'],
    ['param_mismatch', 'unknown', 'token_mismatch'],
    ['already_exists', 'unknown', 'already_exists'],
    ['already_owned_by_you', 'unknown', 'already_exists'],
  ])('met with %s is %s', async (mode, status, reason) => {
    const one = await provider();
    await one.script({ mode, delay_ms: 20 });
    const outcome = await one.send();
    expect(outcome.status).toBe(status);
    if (reason !== undefined) expect(outcome).toMatchObject({ reason });
  });

  it.each(['commit_then_timeout', 'timeout_no_commit', 'hang_then_commit'])(
    'met with %s is unknown once its deadline has passed',
    async (mode) => {
      const one = await provider();
      await one.script({ mode });
      expect(await one.send({ deadlineMs: 40 })).toEqual({
        status: 'unknown',
        reason: 'lost_answer',
        evidence: { code: 'deadline_exceeded' },
      });
    },
  );

  it('fails by a decline with a reason of the catalogue, and nothing was done', async () => {
    const one = await provider();
    await one.script('decline');
    expect(await one.send()).toMatchObject({
      status: 'failed',
      error: { code: 'provider_declined' },
      evidence: { http_status: 402, code: 'card_declined' },
    });
    expect((await one.effects()).filter(({ state }) => state === 'done')).toEqual([]);
  });

  it('is not sent where nobody listens', async () => {
    const port = await freePort();
    expect(await sandboxProvider.write(contact(`http://127.0.0.1:${port}`))).toMatchObject({
      status: 'not_sent',
      reason: 'provider_unreachable',
      evidence: { code: 'ECONNREFUSED' },
    });
  });

  it('is not sent where the name has no address', async () => {
    const outcome = await sandboxProvider.write(contact('http://nowhere.invalid'));
    expect(outcome).toMatchObject({ status: 'not_sent', reason: 'provider_unreachable' });
  });

  const done = { id: 'pay_1', token: 't-1', state: 'done' };
  it.each([
    ['200 about another token', 200, { ...done, token: 't-2' }],
    ['200 about no token', 200, { id: 'pay_1', state: 'done' }],
    ['200 without an id', 200, { token: 't-1', state: 'done' }],
    ['200 without a state', 200, { id: 'pay_1', token: 't-1' }],
    ['200 with a state that we don’t know', 200, { ...done, state: 'maybe' }],
    ['200 that says failed', 200, { ...done, state: 'failed' }],
    ['202 that says done', 202, done],
    ['500 that says done', 500, done],
    ['302', 302, done],
    ['400', 400, { error: { code: 'invalid_request' } }],
    ['401', 401, { error: { code: 'unauthenticated' } }],
    ['402 with another code', 402, { error: { code: 'insufficient_permissions' } }],
    ['402 without a code', 402, {}],
    ['403', 403, { error: { code: 'card_declined' } }],
    ['409 without a code', 409, {}],
    ['429', 429, { error: { code: 'not_executed' } }],
    ['500 that says not executed', 500, { error: { code: 'not_executed' } }],
    ['503 without a code', 503, {}],
    ['503 with another code', 503, { error: { code: 'unavailable' } }],
  ])('answered with %s is unknown', async (_, status, body) => {
    const url = await answering(status, JSON.stringify(body));
    expect((await sandboxProvider.write(contact(url))).status).toBe('unknown');
  });

  it.each(['', 'not json', '[]', '"text"', 'null', '7', '{"error":"text"}', '{"error":null}'])(
    'answered with the body %s is unknown',
    async (body) => {
      for (const status of [200, 402, 503]) {
        const url = await answering(status, body);
        expect((await sandboxProvider.write(contact(url))).status).toBe('unknown');
      }
    },
  );

  it('answered with more than a provider ever says is unknown', async () => {
    const url = await answering(201, JSON.stringify({ ...done, more: 'x'.repeat(1_100_000) }));
    expect((await sandboxProvider.write(contact(url))).status).toBe('unknown');
  });

  it('follows no redirect: the other place would get the write', async () => {
    const one = await provider();
    const url = await answering(307, '', { location: `${one.url}/v1/payment` });
    expect((await sandboxProvider.write(contact(url))).status).toBe('unknown');
    expect(await one.effects()).toEqual([]);
  });

  it('is made once, never again by itself', async () => {
    const one = await provider();
    await one.script('commit_then_reset');
    await one.send();
    const writes = (await one.calls()).filter(({ type }) => type === 'write');
    expect(writes).toHaveLength(1);
  });

  it('keeps no text of the provider or of us in the evidence', async () => {
    const url = await answering(
      500,
      JSON.stringify({ error: { code: 'internal_error', message: 'cus_1 owes inv-1' } }),
    );
    const outcome = await sandboxProvider.write(contact(url));
    expect(JSON.stringify(outcome.evidence)).not.toMatch(/cus_1|inv-1|acct/);
  });
});

describe('a lookup', () => {
  it('finds the matching effect that is done', async () => {
    const one = await provider();
    await one.script('commit_then_reset');
    await one.send();
    const [effect] = await one.effects();
    expect(await one.ask()).toMatchObject({
      status: 'found',
      match: 'matching',
      state: 'done',
      references: [effect?.['id']],
      result: { payment_id: effect?.['id'], payment_state: 'captured' },
    });
  });

  it('finds a declined one as failed', async () => {
    const one = await provider();
    await one.script('decline');
    await one.send();
    expect(await one.ask()).toMatchObject({ status: 'found', match: 'matching', state: 'failed' });
  });

  it('finds an accepted one as pending until the provider settles it', async () => {
    const one = await provider();
    await one.script('accepted_async');
    await one.send();
    expect(await one.ask()).toMatchObject({ status: 'found', match: 'matching', state: 'pending' });
    await one.admin('/admin/objects/settle', { kind: 'payment', state: 'failed' });
    expect(await one.ask()).toMatchObject({ status: 'found', match: 'matching', state: 'failed' });
  });

  it('finds one with other parameters to be contrary', async () => {
    const one = await provider();
    await one.send();
    await one.lookupMode('wrong_amount');
    expect(await one.ask()).toMatchObject({ status: 'found', match: 'contrary' });
  });

  it.each(['amount', 'currency', 'customer', 'invoice', 'capture'])(
    'finds one with another %s to be contrary',
    async (member) => {
      const one = await provider();
      await one.send();
      const sent = { ...JSON.parse(requestBody), [member]: 'other' };
      expect(await one.ask({ requestBody: JSON.stringify(sent) })).toMatchObject({
        status: 'found',
        match: 'contrary',
      });
    },
  );

  it('can not contradict bytes that are gone: what bears the token matches', async () => {
    const one = await provider();
    await one.send();
    expect(await one.ask({ requestBody: null })).toMatchObject({
      status: 'found',
      match: 'matching',
      references: [expect.any(String)],
    });
  });

  it('finds two to be ambiguous, and names both', async () => {
    const one = await provider();
    await one.send();
    await one.lookupMode('two_matches');
    const answer = await one.ask();
    expect(answer).toMatchObject({ status: 'found', match: 'ambiguous' });
    expect(answer.status === 'found' && new Set(answer.references).size).toBe(2);
  });

  it('finds nothing where nothing was done', async () => {
    const one = await provider();
    await one.script('timeout_no_commit');
    await one.send({ deadlineMs: 20 });
    expect(await one.ask()).toMatchObject({ status: 'absent' });
  });

  it('finds nothing under another token or credential', async () => {
    const one = await provider();
    await one.send();
    expect((await one.ask({ token: 't-2' })).status).toBe('absent');
    expect((await one.ask({ credential: 'other' })).status).toBe('absent');
  });

  it('finds nothing while the effect is hidden', async () => {
    const one = await provider();
    await one.send();
    await one.lookupMode('hidden_for', { ms: 60_000 });
    expect((await one.ask()).status).toBe('absent');
  });

  it('is unavailable while lookups are down, refused or cut', async () => {
    const one = await provider();
    await one.send();
    await one.lookupMode('down');
    const answers = [await one.ask(), await one.ask(), await one.ask()];
    expect(answers.map(({ status }) => status)).toEqual(Array(3).fill('unavailable'));
  });

  it('is unavailable where nobody listens: that is no absence', async () => {
    const port = await freePort();
    const answer = await sandboxProvider.lookUp(contact(`http://127.0.0.1:${port}`));
    expect(answer.status).toBe('unavailable');
  });

  it.each([
    [200, ''],
    [200, '{}'],
    [200, '[]'],
    [200, '{"data":{}}'],
    [200, '{"data":[null]}'],
    [200, '{"data":[{"id":1,"state":"done"}]}'],
    [200, '{"data":[{"id":"pay_1","state":"maybe"}]}'],
    [204, ''],
    [404, '{"data":[]}'],
    [404, '{"error":{"code":"not_found"}}'],
    [500, '{"data":[]}'],
    [503, '{"data":[]}'],
  ])('answered with %i %s is unavailable, never an absence', async (status, body) => {
    const url = await answering(status, body);
    expect((await sandboxProvider.lookUp(contact(url))).status).toBe('unavailable');
  });

  it('asks by the token, whatever characters it has', async () => {
    const one = await provider();
    const token = 'a b&token=c%/?#+~';
    await one.send({ token });
    expect(await one.ask({ token })).toMatchObject({ status: 'found', match: 'matching' });
  });

  it('changes nothing at the provider', async () => {
    const one = await provider();
    await one.ask();
    await one.ask();
    expect(await one.effects()).toEqual([]);
  });
});

describe('the sandbox adapter', () => {
  it('throws for a kind that it does not serve', () => {
    expect(() => sandboxProvider.requestFor('no_such_kind', {}, null)).toThrow(/no_such_kind/);
  });

  it('lets every idempotency key stand as a token that the sandbox takes', async () => {
    const one = await provider();
    for (const token of ['k', 'a b', '~', 'x'.repeat(255)]) {
      expect(sandboxProvider.card.allowsToken(token)).toBe(true);
      expect((await one.send({ token })).status).toBe('succeeded');
    }
    for (const token of ['', ' a', 'a ', 'é', 'x'.repeat(256)]) {
      expect(sandboxProvider.card.allowsToken(token)).toBe(false);
    }
  });
});

describe('the connections of an installation', () => {
  const connection = {
    name: 'one',
    adapter: 'sandbox',
    baseUrl: 'http://127.0.0.1:1',
    credential: { from: 'env', name: 'ONE_KEY' },
    webhookSecret: { from: 'env', name: 'ONE_WEBHOOK_SECRET' },
    accounts: ['acct_a'],
    kinds: ['payment'],
  } as const;

  it('are resolved at the start, with their credentials', () => {
    const connected = connectProviders([connection], [sandboxProvider], { ONE_KEY: 'secret' });
    expect(connected('one')).toEqual({
      connection,
      adapter: sandboxProvider,
      credential: 'secret',
    });
  });

  it('are refused where a credential or an adapter is missing', () => {
    expect(() => connectProviders([connection], [sandboxProvider], {})).toThrow(/one/);
    const other = { ...connection, adapter: 'other' };
    expect(() => connectProviders([other], [sandboxProvider], { ONE_KEY: 'x' })).toThrow(/other/);
  });

  it('are not guessed: a name that the configuration has lost is an error', () => {
    const connected = connectProviders([connection], [sandboxProvider], { ONE_KEY: 'x' });
    expect(() => connected('gone')).toThrow(/gone/);
  });
});

describe('the preconditions of a refund', () => {
  const refundOf = (payment: string, amount: string) =>
    sandboxProvider.requestFor(
      'refund',
      { amount, currency: 'USD', reason: 'returned' },
      { operation_id: 'op_p', provider_reference: payment, amount_minor: '0', currency: 'USD' },
    );

  async function paid() {
    const one = await provider();
    const outcome = await one.send();
    const payment = outcome.status === 'succeeded' ? outcome.reference : '';
    const read = (amount: string, members: Partial<ProviderContact> = {}) =>
      sandboxProvider.preconditions?.read(
        contact(one.url, {
          kind: 'refund',
          token: 't-refund',
          requestBody: refundOf(payment, amount),
          ...members,
        }),
      );
    return { ...one, payment, read };
  }

  it('show what is left of the payment, also after refunds that others made', async () => {
    const one = await paid();
    expect(await one.read('10.00')).toMatchObject({
      status: 'read',
      values: { refundable: '10.00 USD' },
      unmet: null,
    });
    await one.send({ kind: 'refund', token: 'other', requestBody: refundOf(one.payment, '4.00') });
    expect(await one.read('6.00')).toMatchObject({
      values: { refundable: '6.00 USD' },
      unmet: null,
    });
    expect(await one.read('6.01')).toMatchObject({
      values: { refundable: '6.00 USD' },
      unmet: 'Only 6.00 USD of the payment can still be refunded.',
    });
  });

  it('are unmet where the provider still works on the payment', async () => {
    const one = await provider();
    await one.script('accepted_async');
    const outcome = await one.send();
    const payment = outcome.status === 'pending' ? String(outcome.reference) : '';
    const asked = contact(one.url, { kind: 'refund', requestBody: refundOf(payment, '1.00') });
    expect(await sandboxProvider.preconditions?.read(asked)).toMatchObject({
      status: 'read',
      values: { payment: 'pending' },
      unmet: 'The provider shows the payment as pending.',
    });
  });

  it('are unmet where the provider does not show the payment', async () => {
    const one = await paid();
    expect(await one.read('1.00', { requestBody: refundOf('pay_never', '1.00') })).toMatchObject({
      status: 'read',
      unmet: 'The provider does not show the payment.',
    });
  });

  it('are unavailable where lookups are down, lost or unreadable: nothing is taken for met', async () => {
    const one = await paid();
    await one.lookupMode('down');
    expect(await one.read('1.00')).toMatchObject({ status: 'unavailable' });
    expect(await one.read('1.00')).toMatchObject({ status: 'unavailable' });
    await one.lookupMode('two_matches');
    expect(await one.read('1.00')).toMatchObject({ status: 'unavailable' });
    for (const body of ['<html>', '{"data": [{"id": "pay_1", "state": "done"}]}']) {
      const baseUrl = await answering(200, body);
      expect(await one.read('1.00', { baseUrl })).toMatchObject({ status: 'unavailable' });
    }
  });
});
