import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { ticket } from '../../src/operations/ticket/ticket.operation.ts';
import { sandboxProvider } from '../../src/providers/sandbox/sandbox.provider.ts';
import { identifiers, texts } from '../support/bodies.ts';
import { commandOf, describeConformance, faultsOf } from '../support/operation-conformance.ts';

const MINIMAL = { project: 'OPS', title: 'Disk full' };
const COMPLETE = {
  ...MINIMAL,
  description: 'See the alert.',
  source_event_id: 'alert-1',
  priority: 'high',
  assignee: 'ana',
  intended_repeat_of: 'op_1',
};

describeConformance({
  definition: ticket,
  minimal: MINIMAL,
  complete: COMPLETE,
  bodies: fc.record(
    {
      project: identifiers,
      title: texts.filter((text) => text.length > 0),
      description: texts,
      source_event_id: identifiers,
      priority: fc.constantFrom('low', 'normal', 'high', 'urgent'),
      assignee: identifiers,
    },
    { requiredKeys: ['project', 'title'] },
  ),
  spellings: [[MINIMAL, { ...MINIMAL, priority: 'normal' }]],
  adapters: [sandboxProvider],
});

const keyOf = (members: object) =>
  ticket.businessKey(commandOf(ticket, { ...MINIMAL, ...members }));

it('tickets of one source event in one project are one, whatever their titles', () => {
  const event = { source_event_id: 'alert-1' };
  expect(keyOf({ ...event, title: 'Another title' })).toBe(keyOf(event));
  expect(keyOf({ ...event, project: 'DEV' })).not.toBe(keyOf(event));
});

it('parts of a business key can not run into each other', () => {
  expect(keyOf({ project: 'A', source_event_id: 'B","C' })).not.toBe(
    keyOf({ project: 'A","B', source_event_id: 'C' }),
  );
});

it('tickets without a source event are never taken for one another', () => {
  expect(keyOf({})).toBeNull();
});

it('a title keeps its bytes, composed or not', () => {
  expect(commandOf(ticket, { ...MINIMAL, title: 'Cafe\u0301' })['title']).toBe('Cafe\u0301');
});

it('an empty title and an unknown priority are refused', () => {
  expect(faultsOf(ticket, { ...MINIMAL, title: '' })).toEqual(['/title']);
  expect(faultsOf(ticket, { ...MINIMAL, priority: 'P1' })).toEqual(['/priority']);
});
