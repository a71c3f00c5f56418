// The one part of a trace context that logs need.

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/;

/** The trace id of a W3C `traceparent`; undefined where there is none, so that nothing a caller made up gets into a log. */
export function traceIdOf(traceparent: string | null | undefined): string | undefined {
  return TRACEPARENT.exec(traceparent ?? '')?.[1];
}
