// What is kept for ever of each command, written out: a member that is added must be put on one side or the other.
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { currentDefinition, KINDS } from '../../src/operations/registry.ts';

const KEPT: Readonly<Record<string, readonly string[]>> = {
  payment: ['amount', 'currency', 'invoice_id', 'capture'],
  payment_capture: ['payment_operation_id', 'amount'],
  refund: ['payment_operation_id', 'amount', 'currency'],
  ticket: ['project', 'source_event_id', 'priority'],
};

describe.each(KINDS)('of a %s', (kind) => {
  const definition = currentDefinition(kind);
  if (!definition) throw new Error(kind);
  const { shape } = definition.input as z.ZodObject;
  const { personal } = definition;

  it('amounts, links and business keys stay, and all else goes with retention', () => {
    const kept = Object.keys(shape).filter((name) => !personal.includes(name));
    expect(kept).toEqual([...(KEPT[kind] ?? []), 'intended_repeat_of']);
  });
});
