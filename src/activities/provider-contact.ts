// How an operation's provider is reached: connection and token as frozen at the claim, credential as configured now.
import type { Operation } from '../domain/operation.ts';
import type { ConnectedProvider } from '../providers/connected-providers.ts';
import type { ProviderContact } from '../providers/provider.ts';

/** Everything that a contact needs; `requestBody` are the stored bytes of the operation's first intent. */
export function contactFor<Body extends string | null>(
  operation: Operation,
  provider: ConnectedProvider,
  requestBody: Body,
  deadlineMs: number,
): ProviderContact<Body> {
  return {
    baseUrl: provider.connection.baseUrl,
    credential: provider.credential,
    operationId: operation.operationId,
    kind: operation.kind,
    token: operation.providerToken,
    traceparent: operation.traceparent,
    requestBody,
    deadlineMs,
  };
}
