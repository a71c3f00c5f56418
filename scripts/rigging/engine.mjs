// Temporal not handing out work, and forgetting what has ended.
import { Client, Connection } from '@temporalio/client';
import { until } from './place.mjs';

export const engine = {
  /** Nobody takes work: what is started waits in the task queue. Relay and sweep stand still as well. */
  pause_dispatch: (place) => place.ask({ do: 'stop', names: ['worker'] }),

  resume_dispatch: (place) => place.ask({ do: 'start', names: ['worker'] }),

  /** As after Temporal's retention: closed runs are gone, open ones stay. */
  async purge_closed_runs(place) {
    const { address, namespace } = place.config.temporal;
    const connection = await Connection.connect({ address });
    const client = new Client({ connection, namespace });
    try {
      const closed = await closedRuns(client);
      for (const run of closed) await forget(client, namespace, run);
      const asked = new Set(closed.map(({ runId }) => runId));
      // Others may close meanwhile; they are not of this purge.
      await until('closed runs are gone', async () =>
        (await closedRuns(client)).every(({ runId }) => !asked.has(runId)),
      );
    } finally {
      await connection.close();
    }
  },
};

async function closedRuns(client) {
  const runs = [];
  for await (const run of client.workflow.list({ query: `ExecutionStatus != 'Running'` })) {
    runs.push(run);
  }
  return runs;
}

async function forget(client, namespace, { workflowId, runId }) {
  await client.workflowService.deleteWorkflowExecution({
    namespace,
    workflowExecution: { workflowId, runId },
  });
}
