// Which connections may be told things by their provider, and how such an event is read: signature first.
import { resolveCredential, type Connection } from '../domain/connection.ts';
import type { EventReceiver, EventReceivers } from '../domain/provider-event.ts';
import { adapterOf } from './connected-providers.ts';
import type { ProviderAdapter } from './provider.ts';

/** The receivers of all connections whose adapter has a webhook scheme; throws where a secret is not set. */
export function eventReceivers(
  connections: readonly Connection[],
  adapters: readonly ProviderAdapter[],
  env: Readonly<Record<string, string | undefined>>,
  nowMs: () => number,
): EventReceivers {
  const receivers = connections.flatMap((connection): EventReceiver[] => {
    const { events } = adapterOf(connection, adapters);
    if (!events) return [];
    const secret = resolveCredential(connection.webhookSecret, env);
    if (secret === undefined) throw new Error(`${connection.name}: its webhook secret is not set`);
    return [
      {
        connection: connection.name,
        read: (body, header) => events.read({ body, header, secret, nowMs: nowMs() }),
        matches: (body, kind, requestBody) => events.matches(body, kind, requestBody),
      },
    ];
  });
  const byName = new Map(receivers.map((one) => [one.connection, one]));
  return (name) => byName.get(name);
}
