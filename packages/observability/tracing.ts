/** Spans for an OpenTelemetry collector. Loading this file is costly, so it is loaded only if a collector is named. */
import {
  type Attributes,
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Once for each process. `endpoint` is the collector's base URL, to which OTLP adds `/v1/traces`; further settings are
 * OpenTelemetry's own variables, such as OTEL_EXPORTER_OTLP_HEADERS.
 */
export function startTracing({
  endpoint,
  service,
  version,
}: {
  endpoint: string;
  service: string;
  version: string;
}) {
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.version': version }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  const tracer = trace.getTracer(service, version);

  return {
    /**
     * Does `work` in a span, below the caller's where `headers` are those of a request, else below the present one.
     * Only the name of an error is recorded, because its message may quote what somebody sent.
     */
    async span<Result>(
      name: string,
      attributes: Attributes,
      work: (note: (more: Attributes) => void) => Promise<Result>,
      headers?: Headers,
    ): Promise<Result> {
      const parent = headers ? propagation.extract(ROOT_CONTEXT, headers) : context.active();
      const kind = headers ? SpanKind.SERVER : SpanKind.INTERNAL;
      return await tracer.startActiveSpan(name, { attributes, kind }, parent, async (span) => {
        try {
          return await work((more) => void span.setAttributes(more));
        } catch (error) {
          const type = error instanceof Error ? error.name : typeof error;
          span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.end();
        }
      });
    },
    /** Sends what is left. Never rejects. */
    stop: () => provider.shutdown().catch(() => undefined),
  };
}
