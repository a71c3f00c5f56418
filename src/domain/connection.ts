// A connection is a configured adapter with its credential. It serves the operations of some accounts and kinds and is frozen at claim.

/** Where a secret is found: a credential by the worker only, a webhook secret by the API only. */
export type CredentialReference =
  | { readonly from: 'env'; readonly name: string }
  | { readonly from: 'literal'; readonly value: string };

/** The value of a reference; undefined where the environment doesn't have it. */
export function resolveCredential(
  reference: CredentialReference,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return reference.from === 'literal' ? reference.value : env[reference.name];
}

/** A connection as every process may know it. */
export interface Connection {
  readonly name: string;
  readonly adapter: string;
  readonly baseUrl: string;
  /** What the provider signs its events with. */
  readonly webhookSecret: CredentialReference;
  readonly accounts: readonly string[];
  readonly kinds: readonly string[];
}

/** With its credential: what the worker is given. */
export interface CredentialedConnection extends Connection {
  readonly credential: CredentialReference;
}

/** Without: what an API is given. One with a credential doesn't pass for it. */
export type BareConnection = Connection & { readonly credential?: never };

/** The connection without its credential, not even its name. */
export function withoutCredential({
  credential: _credential,
  ...rest
}: CredentialedConnection): BareConnection {
  return rest;
}

/** The one connection that serves an account's operations of a kind; undefined where none does. */
export function connectionFor<One extends Connection>(
  connections: readonly One[],
  accountId: string,
  kind: string,
): One | undefined {
  return connections.find((one) => one.accounts.includes(accountId) && one.kinds.includes(kind));
}

/** Sentences on what is served twice or never; a process refuses to start unless this is empty (contract §6). */
export function connectionProblems(
  connections: readonly Connection[],
  accounts: readonly string[],
  kinds: readonly string[],
): string[] {
  const names = connections.map(({ name }) => name);
  const twice = names.filter((name, at) => names.indexOf(name) !== at);
  const unserved = accounts.flatMap((account) =>
    kinds.flatMap((kind) => {
      const serving = connections.filter(
        (one) => one.accounts.includes(account) && one.kinds.includes(kind),
      );
      if (serving.length === 1) return [];
      const by = serving.map((one) => one.name).join(', ') || 'no connection';
      return [`${kind} of ${account} is served by ${by}; exactly one connection must serve it`];
    }),
  );
  // Rows name their connection, so a name must mean one.
  return [...twice.map((name) => `two connections are named ${name}`), ...unserved];
}
