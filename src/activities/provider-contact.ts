// How an operation's provider is reached: connection and token as frozen at the claim, credential as configured now.
import type { Operation } from '../domain/operation.ts';
import type { ConnectedProvider } from '../providers/connected-providers.ts';
import type { ProviderContact } from '../providers/provider.ts';

/** What one contact adds: the stored bytes of the operation's first intent, milliseconds for all of it, and the trace it continues. */
type Contact<Body extends string | null> = Pick<
  ProviderContact<Body>,
  'requestBody' | 'deadlineMs' | 'traceparent'
>;

/** Everything that a contact needs. */
export function contactFor<Body extends string | null>(
  operation: Operation,
  provider: ConnectedProvider,
  contact: Contact<Body>,
): ProviderContact<Body> {
  return {
    baseUrl: provider.connection.baseUrl,
    credential: provider.credential,
    operationId: operation.operationId,
    kind: operation.kind,
    token: operation.providerToken,
    ...contact,
  };
}
