import { describe, expect, it } from 'vitest';
import { PAYMENT, sandbox } from './client.ts';

const REFUND = { payment: 'pay_1', amount: '500', currency: 'USD', reason: 'damaged' };
const CAPTURE = { payment: 'pay_1', amount: '1000', currency: 'JPY' };
const TICKET = { project: 'ops', title: 'Disk full', priority: 'normal' };

const KINDS = [
  ['payment', PAYMENT, /^pay_[0-9a-f]{24}$/],
  ['refund', REFUND, /^ref_[0-9a-f]{24}$/],
  ['payment_capture', CAPTURE, /^cap_[0-9a-f]{24}$/],
  ['ticket', TICKET, /^tkt_[0-9a-f]{24}$/],
] as const;

describe('each kind', () => {
  it.each(KINDS)('%s: is done once for its token and found by it', async (kind, body, id) => {
    const provider = await sandbox();
    const first = await provider.write({ kind, body });
    expect(first.status).toBe(201);
    expect(first.id).toMatch(id);
    expect(first.body).toMatchObject({ ...body, object: kind, state: 'done', token: 't-1' });
    expect((await provider.write({ kind, body })).body).toEqual(first.body);
    expect(await provider.effects()).toMatchObject([{ kind, id: first.id, request: body }]);
    for (const query of [{ token: 't-1' }, { reference: first.id }]) {
      expect((await provider.lookup(query, 'acct', kind)).data).toEqual([first.body]);
    }
  });

  it.each(KINDS)('%s: refuses a body without a member that it needs', async (kind, body) => {
    const provider = await sandbox();
    for (const member of Object.keys(body)) {
      const lacking = Object.fromEntries(Object.entries(body).filter(([name]) => name !== member));
      const answer = await provider.write({ kind, body: lacking });
      expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
      expect(answer.error?.message).toContain(member);
    }
    expect(await provider.effects()).toEqual([]);
  });

  it.each([
    ['refund', REFUND, '500'],
    ['payment_capture', CAPTURE, '1000'],
  ])('%s: counts its amount as a payment does', async (kind, body, amount) => {
    const provider = await sandbox();
    await provider.write({ kind, body });
    const counted = { amount_minor: amount, amount_sent: amount };
    expect(await provider.effects()).toMatchObject([counted]);
  });

  it('plays the faults that are meant for it', async () => {
    const provider = await sandbox();
    const wanted = { kind: 'refund', match: ['pay_1'], modes: ['decline'] };
    await provider.admin('/admin/script', wanted);
    expect((await provider.write()).status).toBe(201);
    const declined = await provider.write({ kind: 'refund', token: 't-2', body: REFUND });
    expect([declined.status, declined.error?.message]).toEqual([402, 'The refund was declined.']);
  });

  it('lets refunds through that exceed their payment, and those of no payment', async () => {
    const provider = await sandbox();
    const payment = (await provider.write()).id;
    for (const [token, of] of [
      ['a', payment],
      ['b', payment],
      ['c', 'pay_none'],
    ] as const) {
      const body = { ...REFUND, payment: of, amount: '1000' };
      expect((await provider.write({ kind: 'refund', token, body })).status).toBe(201);
    }
  });

  it.each([
    ['note', 'not_'],
    ['constructor', 'con_'],
  ])('%s: a kind that nobody described takes any object', async (kind, prefix) => {
    const provider = await sandbox();
    const answer = await provider.write({ kind, body: { status: 3, text: 'ü' } });
    expect(answer.status).toBe(201);
    expect(answer.id.startsWith(prefix)).toBe(true);
    expect(answer.body).toMatchObject({ object: kind, state: 'done', status: 3, text: 'ü' });
  });
});

describe('what was there before', () => {
  it.each([
    ['customer', 'cus_1'],
    ['ticket', 'T-1'],
    ['ticket', 'T-APPROVAL'],
  ])('%s %s is found by its id, and is no effect', async (kind, reference) => {
    const provider = await sandbox();
    const { data } = await provider.lookup({ reference }, 'acct', kind);
    expect(data).toMatchObject([{ id: reference, object: kind, state: 'done' }]);
    expect((await provider.lookup({ reference }, 'acct', 'payment')).data).toEqual([]);
    expect(await provider.effects()).toEqual([]);
  });

  it('may be more, put there by a rig', async () => {
    const provider = await sandbox();
    const change = { do: 'seed', kind: 'ticket', match: ['r1'], resource: 'ticket', name: 'T-9' };
    expect((await provider.admin('/admin/world', change)).status).toBe(200);
    const { data } = await provider.lookup({ reference: 'T-9' }, 'acct', 'ticket');
    expect(data).toMatchObject([{ id: 'T-9', status: 'open' }]);
  });

  it('may be changed by a person, like what a write made', async () => {
    const provider = await sandbox();
    const { id, body } = await provider.write({ kind: 'ticket', body: TICKET });
    expect(body).toMatchObject({ status: 'open' });
    for (const ticket of ['T-1', id]) {
      const change = { do: 'person_sets', ticket, status: 'closed' };
      expect((await provider.admin('/admin/world', change)).status).toBe(200);
      const { data } = await provider.lookup({ reference: ticket }, 'acct', 'ticket');
      expect(data).toMatchObject([{ status: 'closed' }]);
    }
    const payment = (await provider.write({ token: 't-2' })).id;
    for (const ticket of ['T-none', payment]) {
      const change = { do: 'person_sets', ticket, status: 'closed' };
      expect(await provider.admin('/admin/world', change)).toMatchObject({
        status: 409,
        code: 'no_such_object',
      });
    }
  });
});
