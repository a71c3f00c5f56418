// Documents that are made from the source say what the source says.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderStateMachine } from '../../scripts/generate-docs.mjs';
import * as machine from '../../src/domain/operation-state.ts';
import { GUIDANCE } from '../../src/domain/representation.ts';

const STATE_MACHINE = new URL('../../docs/state-machine.md', import.meta.url);
const told = (state: machine.OperationState) => GUIDANCE[state].message;

describe('docs/state-machine.md', () => {
  it('is what `npm run docs` writes', async () => {
    expect(readFileSync(STATE_MACHINE, 'utf8')).toBe(await renderStateMachine(machine, told));
  });

  it('names every state and every move', async () => {
    const text = await renderStateMachine(machine, told);
    for (const from of machine.OPERATION_STATES) {
      for (const to of machine.TRANSITIONS[from]) expect(text).toContain(`${from} --> ${to}`);
      expect(text).toContain(`| \`${from}\``);
    }
  });
});
