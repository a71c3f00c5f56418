// A Temporal server that forgets closed runs within seconds, which takes days elsewhere. In memory, for one test file.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { findTemporalCli } from '../../scripts/setup/temporal-cli.mjs';
import { createHome } from '../../src/supervisor/home.ts';
import { freePort } from '../../src/supervisor/probes.ts';
import { SupervisedChild } from '../../src/supervisor/supervised-child.ts';
import { temporalSpec } from '../../src/supervisor/temporal.ts';

const READY_WITHIN_MS = 60_000;

/** Without the second setting, deletion is spread over half an hour. */
const FORGETFUL = [
  ['--dynamic-config-value', 'system.namespaceMinRetentionLocal="1s"'],
  ['--dynamic-config-value', 'history.retentionTimerJitterDuration="1s"'],
];

export async function startForgetfulTemporal(retentionSeconds: number) {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  chmodSync(home, 0o755);
  createHome(home);
  const port = await freePort();
  const spec = temporalSpec({
    home,
    cli: await findTemporalCli(),
    port,
    uiPort: await freePort(),
    namespace: 'default',
    databaseFile: undefined,
  });
  const args = [...spec.args, ...FORGETFUL.flat()];
  const server = new SupervisedChild({ ...spec, args }, home, () => {});
  process.once('exit', () => server.hurry());
  server.start();
  await server.ready(READY_WITHIN_MS);
  const address = `127.0.0.1:${port}`;
  const connection = await Connection.connect({ address });
  await connection.workflowService.updateNamespace({
    namespace: 'default',
    config: { workflowExecutionRetentionTtl: { seconds: retentionSeconds as never } },
  });
  await connection.close();
  return {
    address,
    namespace: 'default',
    async stop(): Promise<void> {
      await server.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
