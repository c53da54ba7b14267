/** What a process tells Prometheus: counters that it keeps itself, and gauges that are read when somebody asks. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import {
  AppendRefused,
  type EventStore,
  EventStoreFull,
  WrongExpectedRevision,
} from '../eventstore/event-store.ts';
import type { Log } from '../kernel/log.ts';
import { reasonOf } from '../kernel/reason-of.ts';
import type { Runtime } from '../kernel/runtime.ts';

/** `of` is the value of the source's label. */
export type Reading = { gauge: string; value: number; of?: string };

/** Gauges of one subject, which are there or missing together. */
export type GaugeSource = {
  /** In the gauge `ledger_source_up`. */
  name: string;
  /** Each gauge's description. */
  gauges: Readonly<Record<string, string>>;
  /** The only label of these gauges; without it they have none. */
  label?: string;
  /** May reject, or never answer. */
  read(signal: AbortSignal): Promise<readonly Reading[]>;
};

export type AnsweredRequest = { method: string; route: string | null; status: number; durationMs: number };

export type Metrics = ReturnType<typeof createMetrics>;

const contentType = Registry.PROMETHEUS_CONTENT_TYPE;
const eventLoopPrecisionMs = 20;
/** However many ask, a source is read at most once in this time. */
const freshForMs = 4_000;
const answerWithinMs = 2_000;

/** `role` is a label of every metric. */
export function createMetrics(
  role: string,
  { log, runtime }: { log: Log; runtime: Pick<Runtime, 'monotonicMs' | 'timeout'> },
) {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopPrecisionMs });
  const registers = [registry];
  const requests = new Histogram({
    name: 'ledger_http_request_duration_seconds',
    help: 'Requests, by the pattern of their route and the status of the answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5],
    registers,
  });
  const appends = new Histogram({
    name: 'ledger_append_duration_seconds',
    help: 'Appends to the event store, those that failed included',
    buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers,
  });
  const appendErrors = new Counter({
    name: 'ledger_append_errors_total',
    help: 'Appends that failed; conflicts are usual, and decided again',
    labelNames: ['error'],
    registers,
  });
  for (const error of ['conflict', 'refused', 'full', 'unavailable']) appendErrors.inc({ error }, 0);
  const up = new Gauge({
    name: 'ledger_source_up',
    help: '0 if the gauges of this subject could not be read and are missing',
    labelNames: ['source'],
    registers,
  });
  const refreshes: (() => Promise<void>)[] = [];

  return {
    contentType,

    countRequest({ method, route, status, durationMs }: AnsweredRequest): void {
      // Without a route, the method is whatever the caller made up.
      requests.observe(
        { method: route === null ? '' : method, route: route ?? '', status },
        durationMs / 1_000,
      );
    },

    /** The same event store, whose appends are timed and counted. */
    watch(eventStore: EventStore): EventStore {
      return {
        ...eventStore,
        async append(...args) {
          const startedMs = runtime.monotonicMs();
          try {
            return await eventStore.append(...args);
          } catch (error) {
            appendErrors.inc({ error: kindOf(error) });
            throw error;
          } finally {
            appends.observe((runtime.monotonicMs() - startedMs) / 1_000);
          }
        },
      };
    },

    addSource({ name, gauges, label, read }: GaugeSource): void {
      const labelNames = label === undefined ? [] : [label];
      const made = new Map(
        Object.entries(gauges).map(([gauge, help]) => [
          gauge,
          new Gauge({ name: gauge, help, labelNames, registers }),
        ]),
      );
      let readAtMs = Number.NEGATIVE_INFINITY;
      let reading = Promise.resolve();
      const refresh = async () => {
        const found = await within(read, runtime.timeout(answerWithinMs)).catch((error) => {
          log.warn({ source: name, reason: reasonOf(error) }, 'metrics could not be read');
          return null;
        });
        up.set({ source: name }, found ? 1 : 0);
        // `reset` alone would leave a gauge without labels at 0.
        for (const gauge of made.values()) {
          gauge.reset();
          if (label === undefined) gauge.remove();
        }
        for (const { gauge, value, of } of found ?? [])
          made.get(gauge)?.set(label === undefined ? {} : { [label]: of ?? '' }, value);
      };
      refreshes.push(() => {
        const nowMs = runtime.monotonicMs();
        if (nowMs - readAtMs < freshForMs) return reading;
        readAtMs = nowMs;
        reading = refresh();
        return reading;
      });
    },

    /** In Prometheus' text format. */
    async text(): Promise<string> {
      await Promise.all(refreshes.map((refresh) => refresh()));
      return await registry.metrics();
    },
  };
}

function kindOf(error: unknown): string {
  if (error instanceof WrongExpectedRevision) return 'conflict';
  if (error instanceof AppendRefused) return 'refused';
  return error instanceof EventStoreFull ? 'full' : 'unavailable';
}

async function within<T>(read: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  const late = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
  );
  return await Promise.race([read(signal), late]);
}
