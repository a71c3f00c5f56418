// A home of its own for each test, and waiting for something that becomes true.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { ChildSpec } from '../../src/supervisor/child-spec.ts';
import { createHome } from '../../src/supervisor/home.ts';

export function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  createHome(home);
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

/** A Node process that runs the given script. */
export function scriptSpec(
  name: string,
  script: string,
  changes: Partial<ChildSpec> = {},
): ChildSpec {
  return {
    name,
    command: process.execPath,
    args: ['-e', script],
    followsParent: false,
    isReady: async () => true,
    stopSignal: 'SIGTERM',
    hurrySignal: 'SIGKILL',
    stopWithinMs: 5_000,
    ...changes,
  };
}

/** The first value that is not undefined; looks every 20 ms, for at most 10 s. */
export async function eventually<T>(look: () => T | undefined): Promise<T> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error('did not become true within 10 s');
    await sleep(20);
  }
}
