// What the global set-up hands to test files through `inject`.
declare module 'vitest' {
  export interface ProvidedContext {
    /** URL of the test cluster's own database, from which template clones are made. */
    postgresUrl: string;
    /** host:port of the test run's Temporal server, namespace `default`. */
    temporalAddress: string;
  }
}

// Makes this file a module, so that the declaration above adds to vitest's instead of replacing it.
export {};
