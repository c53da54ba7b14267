/** Metrics for Prometheus: those that the process counts itself, and gauges that are read when somebody asks. */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** `of` is the value of the source's label. */
export type Reading = readonly [gauge: string, value: number, of?: string];

/** Gauges of one subject, which are there or missing together. */
export type GaugeSource = {
  /** In the gauge `ledger_source_up`. */
  name: string;
  /** Each gauge's description. */
  gauges: Readonly<Record<string, string>>;
  /** The only label of these gauges; without it they have none. */
  label?: string;
  /** May reject, or never answer: then the gauges are missing. */
  read(signal: AbortSignal): Promise<readonly Reading[]>;
};

export type Metrics = ReturnType<typeof createMetrics>;

const eventLoopPrecisionMs = 20;
/** However many ask, a source is read at most once in this time. */
const freshForMs = 4_000;
const answerWithinMs = 2_000;

/** `role` is a label of every metric; `onFailure` hears of a source that could not be read. */
export function createMetrics({
  role,
  onFailure,
  runtime,
}: {
  role: string;
  onFailure(source: string, error: unknown): void;
  runtime: { monotonicMs(): number; timeout(ms: number): AbortSignal };
}) {
  const registry = new Registry();
  const registers = [registry];
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopPrecisionMs });
  const up = new Gauge({
    name: 'ledger_source_up',
    help: '0 if the gauges of this subject could not be read and are missing',
    labelNames: ['source'],
    registers,
  });
  const refreshes: (() => Promise<void>)[] = [];

  return {
    registers,
    contentType: registry.contentType,

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
      /** Not begun again before it has ended: on a disk that does not answer, each takes one of Node's four threads. */
      let pending: ReturnType<typeof read> | null = null;
      const readOnce = (signal: AbortSignal) => {
        pending ??= read(signal).finally(() => {
          pending = null;
        });
        return pending;
      };
      const refresh = async () => {
        const found = await within(readOnce, runtime.timeout(answerWithinMs)).catch((error) => {
          onFailure(name, error);
          return null;
        });
        up.set({ source: name }, found ? 1 : 0);
        for (const gauge of made.values()) {
          gauge.reset();
          // One without labels would be 0 instead of missing.
          if (label === undefined) gauge.remove();
        }
        for (const [gauge, value, of = ''] of found ?? [])
          made.get(gauge)?.set(label === undefined ? {} : { [label]: of }, value);
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

async function within<T>(read: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  const late = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
  );
  return await Promise.race([read(signal), late]);
}
