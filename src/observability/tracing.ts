// Spans as the rest of the code knows them: one trace from the request through workflow and activity to the provider (ADR 0023).

/** Ids, names, states and codes. Never payloads, and no text that somebody wrote. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanRequest {
  readonly name: string;
  /** Who is at the other end: a caller of ours, somebody we call, or nobody. */
  readonly kind: 'server' | 'client' | 'internal';
  /** W3C traceparent that it continues where no span is open around it; null begins a trace. */
  readonly parent: string | null;
  readonly attributes?: SpanAttributes;
}

/** What is known only at the end. */
interface SpanEnding {
  readonly name: string;
  /** Code of what went wrong here, not of what the caller did. */
  readonly failure: string | undefined;
}

export interface OpenSpan {
  /** What to hand on, so that others continue here; the parent's own where nothing is traced. */
  readonly traceparent: string | null;
  /** False where nobody will see what is added. */
  readonly isRecording: boolean;
  add(attributes: SpanAttributes): void;
}

/** Nothing in it throws on its own account: what can't be traced is done all the same. */
export interface Tracing {
  /** Does `work` in a span; those that are opened in it are its children. An error is noted by its type and passed on. */
  within<T>(span: SpanRequest, work: (open: OpenSpan) => Promise<T>): Promise<T>;
  /** For what ends elsewhere. */
  begin(span: SpanRequest): OpenSpan & { end(ending: SpanEnding): void };
  /** Sends what is left, for a second or two at most. */
  stop(): Promise<void>;
}

const untraced = ({ parent }: SpanRequest): ReturnType<Tracing['begin']> => ({
  traceparent: parent,
  isRecording: false,
  add: () => {},
  end: () => {},
});

export const NO_TRACING: Tracing = {
  within: (span, work) => work(untraced(span)),
  begin: untraced,
  stop: async () => {},
};
