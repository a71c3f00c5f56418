// The connection to Temporal. Lazy, because the API serves claims and replays while Temporal is away.
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type ConnectionOptions,
  type Metadata,
} from '@temporalio/client';

export interface TemporalSettings {
  readonly address: string;
  readonly namespace: string;
}

/**
 * The longest pause between two tries to connect. gRPC's own is two minutes, and that much longer everything would wait after the engine
 * has come back from a long outage.
 */
const RECONNECT_WITHIN_MS = 5_000;

/** gRPC has no deadline of its own; a call that takes longer is given up, and what it was for is left to relay or sweep. */
const CALL_DEADLINE_MS = 5_000;
/** A health check waits no longer than this. */
const HEALTH_DEADLINE_MS = 1_000;

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

/** Gives every call its end, its retries included. */
function withinDeadline(): Interceptor {
  const retry = makeGrpcRetryInterceptor(defaultGrpcRetryOptions());
  return (options, next) => {
    const isHealth = options.method_definition.path.endsWith('/GetSystemInfo');
    const deadline = Date.now() + (isHealth ? HEALTH_DEADLINE_MS : CALL_DEADLINE_MS);
    return retry({ ...options, deadline }, next);
  };
}

/**
 * A connection whose calls all have the same metadata. The client keeps what one call needs, a deadline or the header that names its namespace,
 * in an AsyncLocalStorage, and under Node 20 one that was used once makes every promise of the process dearer: that was a fifth of
 * what a submit costs. So deadlines are an interceptor's here, and the header stands in the connection's own metadata.
 */
class PlainConnection extends Connection {
  override withMetadata<Answer>(_same: Metadata, call: () => Promise<Answer>): Promise<Answer> {
    return call();
  }
}

/** A client that connects at its first call, each of which has a deadline. Close its `connection` at the end. */
export function createTemporalClient({ address, namespace }: TemporalSettings): Client {
  const connection = PlainConnection.lazy({
    address,
    metadata: { 'temporal-namespace': namespace },
    interceptors: [withinDeadline()],
    channelArgs: { 'grpc.max_reconnect_backoff_ms': RECONNECT_WITHIN_MS },
  });
  return new Client({ connection, namespace });
}

/** True where the engine answers in time. */
export async function engineAnswers({ connection }: Client): Promise<boolean> {
  try {
    await connection.workflowService.getSystemInfo({});
    return true;
  } catch {
    return false;
  }
}
