import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { OPERATION_STATES } from '../../src/domain/operation-state.ts';
import { operatorText, type Standing } from '../../src/workflows/operator-text.ts';

const STANDINGS: readonly Standing[] = [
  ...OPERATION_STATES,
  'held',
  'refused',
  'at_provider',
  'unreadable',
];

const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');
/** As GitHub makes links of headings. */
const anchors = [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-'),
);

describe('what Temporal Web says about a run', () => {
  it.each(STANDINGS)('%s: state, operation, what is known, what comes, what to do', (standing) => {
    const text = operatorText(standing, 'op_1', 'IN_PROGRESS');
    expect(text).toMatch(
      /^\*\*IN_PROGRESS\*\* · op_1\n.*Known:.*\n.*Waits for:.*\n.*You can:.*\n.*Runbook:/s,
    );
  });

  it.each(STANDINGS)('%s: leads to a heading that the runbook has', (standing) => {
    const [, anchor] =
      /docs\/runbook\.md#(\S+)$/.exec(operatorText(standing, 'op_1', undefined)) ?? [];
    expect(anchors).toContain(anchor);
  });
});
