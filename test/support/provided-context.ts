// What the global set-up hands to test files through vitest's `inject`.

export interface RunServers {
  /** URL of the test cluster's own database, from which template clones are made. */
  readonly postgresUrl: string;
  /** host:port of the run's Temporal server, namespace `default`. */
  readonly temporalAddress: string;
}

declare module 'vitest' {
  export interface ProvidedContext extends RunServers {}
}
