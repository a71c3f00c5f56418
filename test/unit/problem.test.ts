import { describe, expect, it } from 'vitest';
import { OPERATION_ERRORS, PROBLEMS, type ProblemCode } from '../../src/domain/error-catalogue.ts';
import { HoldfastError } from '../../src/domain/operation-error.ts';
import { problemDocument, problemType } from '../../src/domain/problem.ts';
import { vectorJson } from '../support/vectors.ts';

/** The public contract's codes and statuses, written out again so that a changed line in the catalogue is seen. */
const CONTRACT: Readonly<Record<number, string>> = {
  400: 'idempotency_key_missing idempotency_key_invalid invalid_json invalid_parameter',
  401: 'unauthenticated',
  403: 'forbidden policy_denied own_request',
  404: 'not_found unknown_kind unknown_key',
  405: 'method_not_allowed',
  409:
    'fingerprint_mismatch key_known business_duplicate target_busy not_refundable precondition_failed ' +
    'too_late_to_cancel approval_decided approval_fingerprint_mismatch wrong_state not_resolvable ' +
    'lookup_required second_person_required',
  410: 'approval_expired',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  422: 'invalid_command',
  429: 'rate_limited',
  500: 'internal_error',
  503: 'unavailable',
};

interface ObjectSchema {
  readonly properties: Record<
    string,
    { type: 'string' | 'integer'; format?: string; minimum?: number; maximum?: number }
  >;
}
const schema: ObjectSchema = vectorJson('problem-details/problem.schema.json');

/** The members of RFC 9457's own schema, checked by hand: it has two types, one format and one range. */
function schemaFaults(document: object): string[] {
  return Object.entries(document).flatMap(([name, value]) => {
    const rule = schema.properties[name];
    if (rule === undefined) return [];
    if (rule.type === 'string') {
      const isReference = rule.format !== 'uri-reference' || URL.canParse(value, 'http://host/');
      return typeof value === 'string' && isReference ? [] : [name];
    }
    const inRange = value >= (rule.minimum ?? value) && value <= (rule.maximum ?? value);
    return Number.isInteger(value) && inRange ? [] : [name];
  });
}

const codes = Object.entries(PROBLEMS).map(([code, { status }]) => [code, status] as const);
const isCode = (code: string): code is ProblemCode => code in PROBLEMS;

describe('error catalogue', () => {
  it('has the codes of the contract with their statuses, and no others', () => {
    const expected = Object.entries(CONTRACT).flatMap(([status, names]) =>
      names.split(' ').map((code) => [code, Number(status)] as const),
    );
    expect(new Map(codes)).toEqual(new Map(expected));
  });

  it('tells a caller of a fingerprint mismatch to stop, ask, and mint no new key', () => {
    expect(PROBLEMS.fingerprint_mismatch).toMatchObject({
      next_action: 'do_not_retry',
      retry: 'ask_human',
      safe_to_use_new_key: false,
    });
  });

  it.each(['unavailable', 'internal_error', 'rate_limited'] as const)(
    'has a caller of %s repeat with the same key',
    (code) => {
      expect(PROBLEMS[code]).toMatchObject({ next_action: 'retry_same_key', retry: 'wait' });
    },
  );

  it('calls a new key safe nowhere', () => {
    expect(Object.values(PROBLEMS).every((one) => !one.safe_to_use_new_key)).toBe(true);
  });

  it('gives each problem its own title', () => {
    expect(new Set(Object.values(PROBLEMS).map(({ title }) => title)).size).toBe(codes.length);
  });

  it('has a sentence for each error of an operation', () => {
    for (const sentence of Object.values(OPERATION_ERRORS)) expect(sentence).toMatch(/^[A-Z].*\.$/);
  });
});

describe('problem document', () => {
  it.each(codes.map(([code]) => code).filter(isCode))('of %s is one of RFC 9457', (code) => {
    const document = problemDocument(new HoldfastError(code, 'A sentence.'));
    expect(schemaFaults(document)).toEqual([]);
    expect(document).toEqual({
      type: `/problems/${code}`,
      title: PROBLEMS[code].title,
      status: PROBLEMS[code].status,
      code,
      detail: 'A sentence.',
      next_action: PROBLEMS[code].next_action,
      retry: PROBLEMS[code].retry,
      safe_to_use_new_key: false,
    });
  });

  it('is judged by a check that sees the faults of a bad document and none in the RFC’s own', () => {
    const { examples }: { examples: { body: object }[] } = vectorJson(
      'problem-details/examples.json',
    );
    for (const { body } of examples) expect(schemaFaults(body)).toEqual([]);
    expect(schemaFaults({ type: 1, title: 'a', status: 99 })).toEqual(['type', 'status']);
    expect(schemaFaults({ status: '409', type: 'http://[' })).toEqual(['status', 'type']);
  });

  it('carries what the error says beyond its code', () => {
    const errors = [{ pointer: '/amount', detail: 'send "250.00" as a string' }];
    const document = problemDocument(
      new HoldfastError('invalid_command', 'Not valid.', { errors }),
    );
    expect(document.errors).toEqual(errors);
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  it('says the state of an operation beside the HTTP status', () => {
    const error = new HoldfastError('fingerprint_mismatch', 'Used before.', {
      operation_id: 'op-1',
      operation_status: 'SUCCEEDED',
    });
    expect(problemDocument(error)).toMatchObject({ status: 409, operation_status: 'SUCCEEDED' });
  });

  it('keeps its status and code whatever members come with the error', () => {
    const members = { status: 200, code: 'ok', type: 'about:blank', pointer: '/a' };
    const document = problemDocument(new HoldfastError('not_found', 'No.', members));
    expect(document).toMatchObject({
      status: 404,
      code: 'not_found',
      type: problemType('not_found'),
    });
  });

  it('is made from an error that has its status, code and cause', () => {
    const cause = new Error('socket closed');
    const error = new HoldfastError(
      'unavailable',
      'Repeat it.',
      { retry_after_seconds: 2 },
      { cause },
    );
    expect(error).toMatchObject({ name: 'HoldfastError', status: 503, code: 'unavailable', cause });
    expect(error.message).toBe('unavailable: Repeat it.');
  });
});
