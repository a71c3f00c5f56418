// Every call that reached the provider, whatever became of it. An entry exists from the start of its call.
// Kept in memory only and for ever: the journal holds what was done, not what was asked.

export interface Call {
  readonly seq: number;
  readonly type: 'write' | 'lookup';
  readonly kind: string;
  readonly token: string | null;
  readonly operation_id: string | null;
  /** W3C trace context that the caller sent. */
  readonly traceparent: string | null;
  /** A write's body, a lookup's query. */
  readonly request: unknown;
  readonly started_at: string;
  /** Null while the call is open. */
  ended_at: string | null;
  /** What was played for a write (`ok` where no fault was asked for), and `down` for a lookup. */
  mode: string | null;
  /** Null where no answer was sent. */
  status: number | null;
}

export class CallLog {
  readonly #calls: Call[] = [];
  readonly #writes = new Map<string, Call[]>();

  get all(): readonly Call[] {
    return this.#calls;
  }

  /** Adds the entry of a call that has just begun. */
  begin(
    call: Pick<Call, 'type' | 'kind' | 'token' | 'operation_id' | 'traceparent' | 'request'>,
  ): Call {
    const seq = this.#calls.length + 1;
    const started_at = new Date().toISOString();
    const entry: Call = { seq, ...call, started_at, ended_at: null, mode: null, status: null };
    this.#calls.push(entry);
    if (call.type === 'write' && call.token !== null) {
      const before = this.#writes.get(call.token);
      if (before) before.push(entry);
      else this.#writes.set(call.token, [entry]);
    }
    return entry;
  }

  /** The writes that came with a token, also those that were not carried out. */
  writesOf(token: string): readonly Call[] {
    return this.#writes.get(token) ?? [];
  }
}
