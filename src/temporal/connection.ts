// The connection to Temporal. Lazy, because the API serves claims and replays while Temporal is away.
import { Client, Connection } from '@temporalio/client';

export interface TemporalSettings {
  readonly address: string;
  readonly namespace: string;
}

/**
 * The longest pause between two tries to connect. gRPC's own is two minutes, and that much longer everything would wait after the engine
 * has come back from a long outage.
 */
const RECONNECT_WITHIN_MS = 5_000;

/** A client that connects at its first call. Close its `connection` at the end. */
export function createTemporalClient({ address, namespace }: TemporalSettings): Client {
  const channelArgs = { 'grpc.max_reconnect_backoff_ms': RECONNECT_WITHIN_MS };
  return new Client({ connection: Connection.lazy({ address, channelArgs }), namespace });
}

/** A health check waits no longer than this. */
const HEALTH_DEADLINE_MS = 1_000;

/** True where the engine answers in time. */
export async function engineAnswers({ connection }: Client): Promise<boolean> {
  try {
    await connection.withDeadline(Date.now() + HEALTH_DEADLINE_MS, () =>
      connection.workflowService.getSystemInfo({}),
    );
    return true;
  } catch {
    return false;
  }
}
