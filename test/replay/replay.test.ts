// Histories of real runs, replayed on the workflows as they are now. One that diverges would wedge every such run that is open at an
// upgrade. After a change to src/workflows: `npm run record:histories`; a recorded history goes only together with its patch flag.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker, bundleWorkflowCode } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quietLogger, quietRuntime } from '../support/quiet-runtime.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = new URL('histories/', import.meta.url);
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));

/** Reads what the CLI exported. */
function historyOf(file: string): unknown {
  return JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'));
}

async function bundleOf(folder: string): Promise<string> {
  const workflowsPath = join(folder, 'src', 'workflows', 'index.ts');
  return (await bundleWorkflowCode({ workflowsPath, logger: quietLogger })).code;
}

/** Replays all histories; answers the name of each error by file, undefined where it replays. */
async function replayAll(code: string): Promise<Map<string, string | undefined>> {
  const results = new Map<string, string | undefined>();
  const histories = FILES.map((file) => ({ workflowId: file, history: historyOf(file) }));
  for await (const { workflowId, error } of Worker.runReplayHistories(
    { workflowBundle: { code } },
    histories,
  )) {
    results.set(workflowId, error?.name);
  }
  return results;
}

beforeAll(quietRuntime);

describe('the workflows of the source', () => {
  let results: Map<string, string | undefined>;

  beforeAll(async () => {
    results = await replayAll(await bundleOf(PROJECT));
  });

  it.each(FILES)('replay %s', (file) => {
    expect(results.has(file)).toBe(true);
    expect(results.get(file)).toBeUndefined();
  });

  it.each([
    'success',
    'success-regular',
    'decline',
    'unknown-succeeded',
    'unknown-succeeded-child',
    'unknown-succeeded-regular',
    'resend-child',
    'resend-regular-child',
    'absent-child',
    'pending-succeeded-child',
    'refused-twice',
    'canceled',
    'expired-approval',
    'approved',
    'rejected',
    'signaled-past-the-desk',
  ])('are held to a recorded %s', (scenario) => {
    expect(FILES.some((file) => /^\d+\.\d+\.\d+-(.+)\.json$/.exec(file)?.[1] === scenario)).toBe(
      true,
    );
  });
});

describe('a change that histories can not follow', () => {
  const copies: string[] = [];
  afterAll(() => {
    for (const copy of copies) rmSync(copy, { recursive: true, force: true });
  });

  /** The workflows in a folder of their own, with one text replaced in both of them. */
  function changed(text: string, by: string): string {
    const copy = mkdtempSync(join(tmpdir(), 'holdfast-changed-'));
    copies.push(copy);
    mkdirSync(join(copy, 'src'));
    for (const part of ['workflows', 'domain']) {
      cpSync(join(PROJECT, 'src', part), join(copy, 'src', part), { recursive: true });
    }
    cpSync(join(PROJECT, 'package.json'), join(copy, 'package.json'));
    symlinkSync(join(PROJECT, 'node_modules'), join(copy, 'node_modules'));
    for (const name of ['execute-operation', 'reconcile-operation']) {
      const file = join(copy, 'src', 'workflows', `${name}.workflow.ts`);
      const before = readFileSync(file, 'utf8');
      expect(before).toContain(text);
      writeFileSync(file, before.replace(text, by));
    }
    return copy;
  }

  it('is found by every recorded history', async () => {
    const scope = 'await CancellationScope.nonCancellable(';
    // Inside a workflow this is a timer of the engine, and needs no import.
    const pause = 'await new Promise((resolve) => setTimeout(resolve, 7));';
    const results = await replayAll(await bundleOf(changed(scope, `${pause}\n  ${scope}`)));
    expect(results.size).toBe(FILES.length);
    for (const [file, error] of results) {
      expect({ file, error }).toEqual({ file, error: 'DeterminismViolationError' });
    }
  });
});
