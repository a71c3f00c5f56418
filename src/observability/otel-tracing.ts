// Tracing by the OpenTelemetry SDK. Loaded only where it is switched on.
import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type NodeTracerConfig,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';
import type { Logger } from './logger.ts';
import { partsOf } from './trace.ts';
import type { OpenSpan, SpanAttributes, SpanRequest, Tracing } from './tracing.ts';

/** A collector that is away must not hold up the end of a process. */
const FLUSH_WITHIN_MS = 2_000;

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
} as const;

/** Spans go out in batches, beside the work; what the collector does not take is dropped. */
export function createTracing(service: string, endpoint: string, logger: Logger): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` });
  const provider = new NodeTracerProvider({
    resource: resourceOf({ 'service.name': service }),
    spanProcessors: [new BatchSpanProcessor(reporting(exporter, logger))],
  });
  // Sets the context manager up: what is open follows the work through its awaits.
  provider.register({ propagator: null });
  const tracer = provider.getTracer('holdfast');
  return {
    begin: (request) => {
      const span = start(tracer, request);
      return {
        ...opened(span),
        end: ({ name, failure }) => end(span.updateName(name), failure),
      };
    },
    within: (request, work) => {
      const span = start(tracer, request);
      return context.with(trace.setSpan(context.active(), span), () => finish(span, work));
    },
    stop: () => flush(provider),
  };
}

function start(tracer: Tracer, { name, kind, parent, attributes = {} }: SpanRequest): Span {
  const options = { kind: KINDS[kind], attributes: definedIn(attributes) };
  return tracer.startSpan(name, options, trace.getActiveSpan() ? context.active() : after(parent));
}

/** The context in which a span continues a trace that came from elsewhere. */
function after(traceparent: string | null): Context {
  const parts = partsOf(traceparent);
  if (!parts) return ROOT_CONTEXT;
  const traceFlags = parts.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const { traceId, spanId } = parts;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

async function finish<T>(span: Span, work: (open: OpenSpan) => Promise<T>): Promise<T> {
  try {
    const result = await work(opened(span));
    end(span);
    return result;
  } catch (error) {
    // Its type only: messages may quote what the work was about.
    end(span, error instanceof Error ? error.name : typeof error);
    throw error;
  }
}

function end(span: Span, failure?: string): void {
  if (failure !== undefined) {
    span.setAttribute('error.type', failure);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

function opened(span: Span): OpenSpan {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const flags = (traceFlags & TraceFlags.SAMPLED) === 0 ? '00' : '01';
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    isRecording: span.isRecording(),
    add: (attributes) => void span.setAttributes(definedIn(attributes)),
  };
}

const definedIn = (attributes: SpanAttributes) =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));

/** One line in the log when the collector stops taking spans, and not one for each batch. */
function reporting(exporter: SpanExporter, logger: Logger): SpanExporter {
  let failing = false;
  return {
    export: (spans, done) => {
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined;
        if (failed && !failing) logger.warn({ err: result.error }, 'spans are not exported');
        failing = failed;
        done(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

async function flush(provider: NodeTracerProvider): Promise<void> {
  const late = new Promise<void>((resolve) => void setTimeout(resolve, FLUSH_WITHIN_MS).unref());
  await Promise.race([provider.shutdown().catch(() => {}), late]);
}

type Resource = NonNullable<NodeTracerConfig['resource']>;

/** The SDK's own maker is in a package that nothing else here needs. */
function resourceOf(attributes: Readonly<Record<string, string>>): Resource {
  const resource: Resource = {
    attributes,
    merge: () => resource,
    getRawAttributes: () => Object.entries(attributes),
  };
  return resource;
}
