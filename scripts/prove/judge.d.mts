export interface Wanted {
  readonly key: string;
  readonly minor: string;
  readonly mode: string;
}

/** What an agent was told, or that it was told nothing. */
export interface Answer {
  readonly key: string;
  readonly status?: number;
  readonly code?: string;
  readonly disposition?: string | null;
  readonly replayed?: boolean;
  readonly operationId?: string | undefined;
  readonly text?: string;
}

export interface Row {
  readonly operation_id: string;
  readonly idempotency_key: string;
  readonly provider_token: string;
  readonly status: string;
  readonly review_reason: string | null;
}

export interface Effect {
  readonly id: string;
  readonly token: string;
  readonly operation_id: string;
  readonly state: string;
  readonly amount_minor: string;
}

export interface Write {
  readonly operation_id: string;
  readonly token: string;
  readonly request: unknown;
}

export interface Evidence {
  readonly plans: readonly Wanted[];
  readonly history: readonly Answer[];
  readonly rows: readonly Row[];
  readonly effects: readonly Effect[];
  readonly writes: readonly Write[];
}

export function judge(
  evidence: Evidence,
): Record<'duplicate_effects' | 'lost' | 'wrong_final' | 'history', string[]>;
