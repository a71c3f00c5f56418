// What is read of a W3C `traceparent`.

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/;

export interface TraceparentParts {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

/** Undefined where there is none, so that nothing a caller made up gets into a log or a trace. */
export function partsOf(traceparent: string | null | undefined): TraceparentParts | undefined {
  const [, traceId, spanId, flags = ''] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The trace id, for logs. */
export function traceIdOf(traceparent: string | null | undefined): string | undefined {
  return partsOf(traceparent)?.traceId;
}
