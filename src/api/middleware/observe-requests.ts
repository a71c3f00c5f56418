// One log line, one measurement and one span for each request, when its answer has gone out or its caller has left. Names, ids and codes only:
// no bodies, no headers, no query, and of the path only its template.
import type { Request, RequestHandler, Response } from 'express';
import type { Operation } from '../../domain/operation.ts';
import { operationAttributes } from '../../observability/operation-attributes.ts';
import { traceIdOf } from '../../observability/trace.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { observedOf } from '../observed.ts';
import { callerIfKnown } from './authenticate.ts';

/** A caller can send any method that Node's parser knows; only these are worth a series. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE']);

/** nginx's number for a caller that left before its answer. */
const CALLER_LEFT = 499;

type Observers = Pick<ApiDependencies, 'metrics' | 'logger' | 'tracing'>;

/** Goes before all that should be seen; health checks and documents stay out of it. */
export function observeRequests(deps: Observers): RequestHandler {
  return (request, response, next) => {
    const began = performance.now();
    const span = beginSpan(deps, request);
    response.once('close', () => {
      const durationMs = performance.now() - began;
      const status = response.writableFinished ? response.statusCode : CALLER_LEFT;
      const seen = { method: request.method, route: routeOf(request), status, durationMs };
      measure(deps, response, seen);
      if (span.isRecording || deps.logger.isLevelEnabled('info')) {
        const attributes = attributesOf(request, response, seen);
        deps.logger.info(attributes, 'request answered');
        span.add(attributes);
      }
      const failure = status >= 500 ? (observedOf(response).problem ?? String(status)) : undefined;
      span.end({ name: `${seen.method} ${seen.route}`, failure });
    });
    next();
  };
}

/** From here on the request continues its trace in this span, and so does the operation that is made of it. */
function beginSpan({ tracing }: Observers, request: Request) {
  const parent = request.get('traceparent') ?? null;
  const span = tracing.begin({ name: request.method, kind: 'server', parent });
  if (span.traceparent !== null) request.headers['traceparent'] = span.traceparent;
  return span;
}

interface Seen {
  readonly method: string;
  /** As the router has it, without what a caller filled in; `-` where nothing matched or the caller was turned away before. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

function routeOf(request: Request): string {
  const path: unknown = request.route?.path;
  return typeof path === 'string' ? path : '-';
}

function measure(
  { metrics }: Pick<ApiDependencies, 'metrics'>,
  response: Response,
  { method, route, status, durationMs }: Seen,
): void {
  const { problem, held = false } = observedOf(response);
  const labels = {
    method: METHODS.has(method) ? method : 'other',
    route,
    status_class: `${Math.floor(status / 100)}xx`,
    held: String(held),
  };
  metrics.requestDuration.observe(labels, durationMs / 1_000);
  if (problem !== undefined) metrics.problems.inc({ code: problem });
}

function attributesOf(request: Request, response: Response, seen: Seen) {
  const { operation, operationId, problem, held } = observedOf(response);
  return {
    method: seen.method,
    route: seen.route,
    status: seen.status,
    duration_ms: Math.round(seen.durationMs),
    principal_id: callerIfKnown(response)?.principal.principalId,
    held,
    disposition: response.get('operation-disposition'),
    problem,
    // Of this request; that of the operation, below, is the one it was submitted with.
    trace_id: traceIdOf(request.get('traceparent')),
    operation_id: operationId,
    ...(operation && submittedAs(operation)),
  };
}

function submittedAs(operation: Operation) {
  const { trace_id: submitTraceId, ...attributes } = operationAttributes(operation);
  return { ...attributes, operation_trace_id: submitTraceId, state: operation.status };
}
