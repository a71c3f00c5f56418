// A connection is a configured adapter with its credential. It serves the operations of some accounts and kinds and is frozen at claim.

/** Where a credential is found; the value itself is read by the worker only. */
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

export interface Connection {
  readonly name: string;
  readonly adapter: string;
  readonly baseUrl: string;
  readonly credential: CredentialReference;
  /** What the provider signs its events with. */
  readonly webhookSecret: CredentialReference;
  readonly accounts: readonly string[];
  readonly kinds: readonly string[];
}

/** The one connection that serves an account's operations of a kind; undefined where none does. */
export function connectionFor(
  connections: readonly Connection[],
  accountId: string,
  kind: string,
): Connection | undefined {
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
