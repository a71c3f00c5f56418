import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KINDS } from '../../src/operations/registry.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { openRegister, type Register } from '../support/register.ts';

let register: Register;
let api: TestApi;
beforeAll(async () => {
  register = await openRegister();
  api = await startTestApi(register);
});
afterAll(async () => {
  await api.stop();
  await register.close();
});

interface Kind {
  readonly kind: string;
  readonly granted: boolean;
  readonly schema: object;
  readonly example: object;
}

const read = async (as: string): Promise<Kind[]> => {
  const answer = await api.call('GET', '/kinds', { as });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.body['kinds'] as Kind[];
};

const granted = async (as: string): Promise<string[]> =>
  (await read(as)).filter((one) => one.granted).map(({ kind }) => kind);

describe('the kinds', () => {
  it.each(['agent', 'approver', 'operator', 'auditor', 'admin'])(
    'are shown to the %s, all of them',
    async (name) => {
      expect((await read(`acct_a.${name}`)).map(({ kind }) => kind)).toEqual(KINDS);
    },
  );

  it('are not shown without a credential', async () => {
    expect((await api.call('GET', '/kinds', { as: null })).status).toBe(401);
  });

  it('come with what the provider of the account promises, and what waits for a person', async () => {
    const payment = (await read('acct_b.agent')).find(({ kind }) => kind === 'payment');
    expect(payment).toMatchObject({
      version: 1,
      summary: expect.any(String),
      policy_summary: expect.stringMatching(/^Needs approval where .*1000\.00 USD/),
      on_duplicate: 'refuse',
      acts_on: null,
      granted: true,
      connection: {
        name: 'sandbox_acct_b',
        adapter: 'sandbox',
        capability_card: { token: 'native', lookup: 'token', retention_ms: expect.any(Number) },
      },
    });
  });

  it('say which of them the caller may submit', async () => {
    expect(await granted('acct_a.agent')).toEqual(['payment']);
    expect(await granted('acct_a.agent_bare')).toEqual([]);
  });

  it('have a JSON Schema that takes their example and refuses members it does not know', async () => {
    for (const { kind, schema, example } of await read('acct_a.agent')) {
      const validate = new Ajv2020({ strict: false }).compile(schema);
      expect([kind, validate(example)]).toEqual([kind, true]);
      expect(validate({ ...example, surprise: 1 })).toBe(false);
      expect(validate({})).toBe(false);
    }
  });
});
