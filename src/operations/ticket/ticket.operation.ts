// Kind `ticket`: open a ticket. Two agents that report one event get one ticket: the second key stands for the first operation.
import { z } from 'zod';
import { defineOperation } from '../define-operation.ts';
import { identifier, longText, withoutAbsent } from '../members.ts';

export const ticket = defineOperation({
  kind: 'ticket',
  version: 1,
  summary: 'Opens a ticket in a project, once per source event.',
  input: {
    project: identifier,
    title: z.string().min(1).max(500),
    description: longText.optional(),
    source_event_id: identifier.optional(),
    priority: z.enum(['low', 'normal', 'high', 'urgent']).default('normal'),
    assignee: identifier.optional(),
  },
  example: { project: 'OPS', title: 'Disk is full on db-1', source_event_id: 'evt-1' },
  canonicalise: (input) => withoutAbsent(input),
  // Titles prove nothing: equal ones may be two incidents, one incident may be told in two ways.
  businessKey: ({ project, source_event_id: event }) =>
    event === undefined ? null : [project, event],
  onDuplicate: 'reuse',
  card: ({ project, title, priority }) => ({
    title: `Open a ticket in project ${project}: ${title}`,
    consequence: `People who watch the project are told of it, with priority ${priority}.`,
    reversibility: 'It can be closed; who was told stays told.',
    target: `project ${project}`,
  }),
  personal: ['title', 'description', 'assignee'],
  facts: ({ project }) => ({ target: project }),
});
