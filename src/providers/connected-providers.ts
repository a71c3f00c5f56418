// The connections of this installation with their adapters and credentials: what the worker can reach.
import {
  resolveCredential,
  type Connection,
  type CredentialedConnection,
} from '../domain/connection.ts';
import type { ProviderAdapter } from './provider.ts';

export interface ConnectedProvider {
  readonly connection: Connection;
  readonly adapter: ProviderAdapter;
  readonly credential: string;
}

/** Looks up a connection by the name that was frozen at the claim; throws where the configuration no longer has it. */
export type ConnectedProviders = (connectionName: string) => ConnectedProvider;

/** Resolves every connection at start, so that a missing adapter or credential stops the process and not a payment. */
export function connectProviders(
  connections: readonly CredentialedConnection[],
  adapters: readonly ProviderAdapter[],
  env: Readonly<Record<string, string | undefined>>,
): ConnectedProviders {
  const connected = new Map(
    connections.map((connection) => {
      const adapter = adapterOf(connection, adapters);
      const credential = resolveCredential(connection.credential, env);
      if (credential === undefined)
        throw new Error(`${connection.name}: its credential is not set`);
      return [connection.name, { connection, adapter, credential }];
    }),
  );
  return (name) => {
    const found = connected.get(name);
    if (!found) throw new Error(`no connection is named ${name}`);
    return found;
  };
}

/** The adapter that a connection names; throws where there is none. */
export function adapterOf(
  connection: Connection,
  adapters: readonly ProviderAdapter[],
): ProviderAdapter {
  const adapter = adapters.find((one) => one.name === connection.adapter);
  if (!adapter) throw new Error(`${connection.name}: no adapter is named ${connection.adapter}`);
  return adapter;
}
