// What an adapter declares about its provider (contract §6). The engine decides from the card; it never asks which provider it is.

export interface CapabilityCard {
  /** How the provider recognises a repeat. Only `native` (it removes duplicates itself) makes a resend a safe move. */
  readonly token: 'native' | 'client_id' | 'natural_key' | 'marker' | 'none';
  /** True where the provider accepts this key as its token. */
  readonly allowsToken: (key: string) => boolean;
  /** How long the provider remembers a token, from its first use. */
  readonly retentionMs: number;
  /** Longest the provider works on a write after it received it; undefined where it names no bound. */
  readonly maxProcessingMs: number | undefined;
  /** How long a finished effect may be missing from lookups. */
  readonly visibilityLagMs: number;
  /** True where "not found" after lag and send window proves that nothing happened. */
  readonly absenceIsAuthoritative: boolean;
  readonly lookup: 'token' | 'reference' | 'natural_key' | 'marker' | 'none';
  readonly reversible: boolean;
}
