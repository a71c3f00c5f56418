// What comes in: bytes, headers and paths of any sort. The fuzz at the end looks for one thing: nothing that a client sends is a 5xx.
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_BODY_BYTES } from '../../src/api/parse-submission.ts';
import { PROBLEMS } from '../../src/domain/error-catalogue.ts';
import { newKey, paymentBody, startTestApi, type Answer, type TestApi } from '../support/api.ts';
import { openRegister, secretOf, type Register } from '../support/register.ts';

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

const codeOf = ({ status, body }: Answer) => [status, body['code']];
const submitText = (text: string | Uint8Array) => api.submit(newKey(), text);
const members = () => JSON.stringify(paymentBody()).slice(1, -1);

/** A payment in exactly so many bytes. */
const padded = (bytes: number) => {
  const text = `{${members()}}`;
  return text + ' '.repeat(bytes - Buffer.byteLength(text));
};

/** A problem document as the contract describes it. */
function expectProblem({ status, headers, body }: Answer): void {
  const code = String(body['code']) as keyof typeof PROBLEMS;
  expect(headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(PROBLEMS).toHaveProperty(code);
  expect(body).toMatchObject({
    ...PROBLEMS[code],
    status,
    type: `/problems/${code}`,
    detail: expect.stringMatching(/\S/),
  });
}

describe('the body', () => {
  it.each([
    ['a name twice', () => `{${members()},"amount":"20.00"}`],
    ['a name twice, once escaped', () => `{${members()},"am\\u006funt":"20.00"}`],
    ['a name twice further inside', () => `{${members()},"x":{"a":1,"a":2}}`],
    ['a byte order mark', () => `\ufeff{${members()}}`],
    ['a lone surrogate', () => `{${members()},"memo":"\\ud800"}`],
    ['U+0000', () => `{${members()},"memo":"\\u0000"}`],
    ['null', () => `{${members()},"memo":null}`],
    ['a number that a double changes', () => `{${members()},"x":9007199254740993}`],
    ['65 levels', () => `{${members()},"x":${'['.repeat(65)}${']'.repeat(65)}}`],
    ['a trailing comma', () => `{${members()},}`],
    ['a comment', () => `{${members()}/**/}`],
    ['two documents', () => `{${members()}}{}`],
    ['nothing', () => ''],
    ['NaN', () => `{${members()},"x":NaN}`],
  ])('with %s is not strict JSON', async (_, text) => {
    const answer = await submitText(text());
    expect(codeOf(answer)).toEqual([400, 'invalid_json']);
    expectProblem(answer);
  });

  it.each([
    ['invalid UTF-8', [0xff, 0xfe]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate in UTF-8', [0xed, 0xa0, 0x80]],
    ['a cut character', [0xe2, 0x82]],
  ])('with %s is not strict JSON', async (_, bytes) => {
    const text = Buffer.from(`{${members()},"memo":"`);
    const body = Buffer.concat([text, Buffer.from(bytes), Buffer.from('"}')]);
    expect(codeOf(await submitText(body))).toEqual([400, 'invalid_json']);
  });

  it('names the place of what is wrong', async () => {
    const answer = await submitText(`{${members()},"memo":null}`);
    expect(answer.body['pointer']).toBe('/memo');
  });

  it('is 413 above 256 KiB, and read up to that', async () => {
    expect((await submitText(padded(MAX_BODY_BYTES))).status).toBe(202);
    for (const bytes of [MAX_BODY_BYTES + 1, 257 * 1024]) {
      const answer = await submitText(padded(bytes));
      expect(codeOf(answer)).toEqual([413, 'payload_too_large']);
      expectProblem(answer);
    }
  });

  it('is 413 as well where its length is not announced', async () => {
    const answer = await fetch(`${api.url}/agent/operations/payment`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secretOf('acct_a.agent')}`,
        'content-type': 'application/json',
        'idempotency-key': newKey(),
      },
      body: new Blob([new Uint8Array(300 * 1024)]).stream(),
      duplex: 'half',
    });
    expect(answer.status).toBe(413);
  });

  it.each(['[]', '"text"', '7', 'true', '[{}]'])('that is %s is no command', async (text) => {
    expect(codeOf(await submitText(text))).toEqual([422, 'invalid_command']);
  });

  it('with an unknown member, a prototype among them, is refused, naming it', async () => {
    for (const name of ['__proto__', 'constructor', 'surprise', 'a/b~c']) {
      const answer = await submitText(`{${members()},${JSON.stringify(name)}:{"amount":"1.00"}}`);
      expect(codeOf(answer)).toEqual([422, 'invalid_command']);
      const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      expect(answer.body['errors']).toEqual([{ pointer, detail: expect.any(String) }]);
    }
  });

  it('inside __proto__ is no substitute for members', async () => {
    const answer = await submitText(`{"__proto__":{${members()}}}`);
    expect(codeOf(answer)).toEqual([422, 'invalid_command']);
  });

  it('with a numeric amount is told how to send it', async () => {
    const answer = await submitText(JSON.stringify(paymentBody({ amount: 250 })));
    expect(codeOf(answer)).toEqual([422, 'invalid_command']);
    expect(answer.body['errors']).toEqual([
      { pointer: '/amount', detail: 'send "250.00" as a string' },
    ]);
  });

  it('names every faulty member, and repeats no value', async () => {
    const answer = await submitText(
      JSON.stringify({ amount: 'hunter2', currency: 'hunter2', customer_id: 5, hunter: 'hunter2' }),
    );
    const errors = answer.body['errors'] as { pointer: string; detail: string }[];
    const pointers = errors.map(({ pointer }) => pointer);
    for (const one of ['/customer_id', '/invoice_id', '/hunter']) expect(pointers).toContain(one);
    expect(answer.text).not.toContain('hunter2');
    expectProblem(answer);
  });
});

describe('the media type', () => {
  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
  ])('%s is taken', async (type) => {
    const answer = await api.submit(newKey(), paymentBody(), { headers: { 'content-type': type } });
    expect(answer.status).toBe(202);
  });

  it.each([
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/json, text/plain',
    'application/jsonp',
    'application/problem+json',
    'multipart/form-data; boundary=x',
  ])('"%s" is 415', async (type) => {
    const answer = await api.submit(newKey(), paymentBody(), { headers: { 'content-type': type } });
    expect(codeOf(answer)).toEqual([415, 'unsupported_media_type']);
    expectProblem(answer);
  });

  it('with a content encoding is 415, also where it is true', async () => {
    const body = gzipSync(JSON.stringify(paymentBody()));
    for (const encoding of ['gzip', 'br', 'deflate', 'unknown']) {
      const answer = await api.submit(newKey(), body, {
        headers: { 'content-encoding': encoding },
      });
      expect(codeOf(answer)).toEqual([415, 'unsupported_media_type']);
    }
  });
});

describe('the key', () => {
  it('names the same operation quoted and bare', async () => {
    const [key, body] = [newKey(), paymentBody()];
    const first = await api.submit(key, body);
    const quoted = await api.submit(`"${key}"`, body);
    expect(quoted.body['operation_id']).toBe(first.body['operation_id']);
  });

  it('is missing', async () => {
    const answer = await api.call('POST', '/agent/operations/payment', {
      headers: { 'content-type': 'application/json' },
      body: paymentBody(),
    });
    expect(codeOf(answer)).toEqual([400, 'idempotency_key_missing']);
    expect(answer.body['detail']).toMatch(/UUID/);
  });

  it.each(['', '""', 'a,b', '"a","b"', '"a";p=1', "'a'", '?1', ':YQ==:', '-a', 'a b', '"a', 'é'])(
    'is not valid as %s, and claims nothing',
    async (key) => {
      const before = await register.count('select count(*) from operations');
      const answer = await api.submit(Buffer.from(key).toString('latin1'), paymentBody());
      expect(codeOf(answer)).toEqual([400, 'idempotency_key_invalid']);
      expect(await register.count('select count(*) from operations')).toBe(before);
    },
  );

  it('is not valid where it comes twice, even twice the same', async () => {
    const key = newKey();
    const answer = await api.submit(key, paymentBody(), {
      headers: { 'idempotency-key': [key, key] },
    });
    expect(codeOf(answer)).toEqual([400, 'idempotency_key_invalid']);
  });

  it('may be long and odd', async () => {
    for (const key of [
      `"${'k'.repeat(255)}"`,
      '"a b \\" \\\\ c"',
      'a!#$%&()*+-./:<=>?@[]^_`{|}~',
    ]) {
      expect((await api.submit(key, paymentBody())).status).toBe(202);
    }
    expect((await api.submit(`"${'k'.repeat(256)}"`, paymentBody())).status).toBe(400);
  });
});

describe('query parameters', () => {
  it.each(['x=1', 'wait', '__proto__=1', 'a[b]=1', 'kind=payment', '%00=1', '%zz'])(
    'that nobody knows (%s) are refused, and claim nothing',
    async (query) => {
      const key = newKey();
      const answer = await api.call('POST', `/agent/operations/payment?${query}`, {
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: paymentBody(),
      });
      expect(codeOf(answer)).toEqual([400, 'invalid_parameter']);
      expectProblem(answer);
    },
  );
});

const bodyText = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc.string({ maxLength: 200, unit: 'binary' }),
  fc.uint8Array({ maxLength: 200 }),
  fc
    .record(
      {
        amount: fc.oneof(fc.string(), fc.constant('1.00'), fc.double()),
        currency: fc.oneof(fc.string(), fc.constant('USD')),
        customer_id: fc.string({ unit: 'binary' }),
        invoice_id: fc.string({ unit: 'binary' }),
        capture: fc.oneof(fc.string(), fc.constant('manual')),
        memo: fc.string({ unit: 'binary', maxLength: 1_200 }),
        intended_repeat_of: fc.string({ unit: 'binary' }),
        extra: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value)),
);
const headerText = fc.string({
  unit: fc
    .integer({ min: 0x20, max: 0xff })
    .filter((n) => n !== 0x7f)
    .map((n) => String.fromCodePoint(n)),
  maxLength: 60,
});
const headerFuzz = fc.record(
  {
    'content-type': fc.oneof(headerText, fc.constant('application/json')),
    'idempotency-key': fc.oneof(headerText, fc.uuid()),
    'idempotency-mode': fc.oneof(headerText, fc.constantFrom('first', 'retry', 'any')),
    'agent-run-id': headerText,
    traceparent: headerText,
    prefer: fc.oneof(headerText, fc.constant('wait=0')),
    'content-encoding': fc.constantFrom('identity', 'gzip', 'x'),
    accept: headerText,
    authorization: headerText.map((text) => `Bearer ${text}`),
  },
  { requiredKeys: [] },
);
const pathPart = fc.oneof(
  fc.string({ maxLength: 30 }).map(encodeURIComponent),
  fc
    .string({ unit: 'binary', maxLength: 8 })
    .map((text) => encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '?'))),
  fc.constantFrom('%', '%00', '%zz', '%E0%A4%A', '..', '%2e%2e%2f', 'payment', '__proto__', '*'),
);
const path = fc.oneof(
  { weight: 4, arbitrary: fc.constant('/agent/operations/payment') },
  { weight: 3, arbitrary: pathPart.map((part) => `/agent/operations/${part}`) },
  { weight: 2, arbitrary: fc.array(pathPart, { maxLength: 4 }).map((all) => `/${all.join('/')}`) },
  {
    weight: 1,
    arbitrary: pathPart.map((part) => `/agent/operations/payment?${part}`),
  },
);

describe('nothing that a client sends', () => {
  it('is a 5xx, and every refusal is a problem of the catalogue', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('POST', 'POST', 'POST', 'GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'),
        path,
        headerFuzz,
        bodyText,
        async (method, where, headers, body) => {
          const answer = await api.call(method, where, {
            headers: {
              'content-type': 'application/json',
              'idempotency-key': newKey(),
              ...headers,
            },
            ...(method === 'GET' ? {} : { body }),
          });
          expect(answer.status).toBeLessThan(500);
          if (answer.status >= 400) expectProblem(answer);
        },
      ),
      { numRuns: 600 },
    );
  });
});
