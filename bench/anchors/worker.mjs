// Anchor: a worker whose workflows run one activity that does nothing. Same SDK, same server, same cache size as ours.
import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';

const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS });
const worker = await Worker.create({
  connection,
  taskQueue: 'anchor',
  workflowsPath: fileURLToPath(new URL('workflow.mjs', import.meta.url)),
  activities: { nothing: async () => {}, now: async () => Date.now() },
  maxCachedWorkflows: 300,
  workflowTaskPollerBehavior: { type: 'autoscaling' },
  activityTaskPollerBehavior: { type: 'autoscaling' },
});
process.stdout.write('ready\n');
await worker.run();
await connection.close();
