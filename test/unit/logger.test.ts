import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/observability/logger.ts';
import { operationOf, fileOf } from '../support/operation-file.ts';

function logged(line: object): string {
  const lines: string[] = [];
  const logger = createLogger('test', 'trace', { write: (text) => void lines.push(text) });
  logger.info(line, 'said');
  return lines.join('');
}

describe('what is logged by mistake', () => {
  const command = { memo: 'planted', customer_id: 'planted' };

  it.each([
    ['a command', { command }],
    ['members of a command', command],
    ['an operation', operationOf({ command, responseBody: 'planted' })],
    ['an operation in a line', { operation: operationOf({ command, responseBody: 'planted' }) }],
    ['a file', { file: fileOf({ command, responseBody: 'planted' }) }],
    ['a list of files', { files: [fileOf({ command, responseBody: 'planted' })] }],
    ['a provider contact', { contact: { credential: 'planted', requestBody: 'planted' } }],
    ['a request', { request: { headers: { authorization: 'Bearer planted' } } }],
    ['a person’s statement', { statement: { evidence: 'planted' } }],
  ])('is left out: %s', (_, line) => {
    expect(logged(line)).toContain('"msg":"said"');
    expect(logged(line)).not.toContain('planted');
  });

  it('does not cost the ids by which an operation is followed', () => {
    const line = logged({ operation_id: 'op_1', idempotency_key: 'k', kind: 'payment' });
    expect(JSON.parse(line)).toMatchObject({
      operation_id: 'op_1',
      idempotency_key: 'k',
      kind: 'payment',
    });
  });
});
