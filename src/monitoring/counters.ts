/** What a process counts and times itself: requests, appends, and attempts at deliveries. */
import {
  AppendRefused,
  type EventStore,
  EventStoreFull,
  WrongExpectedRevision,
} from '@ledger/event-store/event-store.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { inSpan } from '@ledger/kernel/tracing.ts';
import { Counter, Histogram, type Registry } from 'prom-client';
import definitions from '../../content/counters.json' with { type: 'json' };
import { type DeliveryKind, deliveryKinds } from '../events/deliveries.ts';

/** `route` is the pattern, null where there is none. */
export type AnsweredRequest = { method: string; route: string | null; status: number; durationMs: number };

const attemptOutcomes = ['delivered', 'failed', 'abandoned'] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

export function createCounters(registers: Registry[], runtime: Pick<Runtime, 'monotonicMs'>) {
  const requests = new Histogram({ ...definitions.requests, registers });
  const appends = new Histogram({ ...definitions.appends, registers });
  const failedAppends = new Counter({ ...definitions.failedAppends, registers });
  const attempts = new Counter({ ...definitions.attempts, registers });
  for (const kind of deliveryKinds) for (const outcome of attemptOutcomes) attempts.inc({ kind, outcome }, 0);
  for (const error of ['conflict', 'refused', 'full', 'unavailable']) failedAppends.inc({ error }, 0);

  return {
    countRequest({ method, route, status, durationMs }: AnsweredRequest): void {
      // Without a route, the method may be any text that a caller sends.
      requests.observe(
        { method: route === null ? '' : method, route: route ?? '', status },
        durationMs / 1_000,
      );
    },

    countAttempt(kind: DeliveryKind, outcome: AttemptOutcome): void {
      attempts.inc({ kind, outcome });
    },

    /** The same event store, whose appends are counted. */
    watch(eventStore: EventStore): EventStore {
      return {
        ...eventStore,
        async append(...append) {
          const [stream, events] = append;
          const startedMs = runtime.monotonicMs();
          const about = { 'ledger.stream': stream.split('-', 1)[0] ?? '', 'ledger.events': events.length };
          try {
            return await inSpan('append', about, () => eventStore.append(...append));
          } catch (error) {
            failedAppends.inc({ error: kindOf(error) });
            throw error;
          } finally {
            appends.observe((runtime.monotonicMs() - startedMs) / 1_000);
          }
        },
      };
    },
  };
}

function kindOf(error: unknown): string {
  if (error instanceof WrongExpectedRevision) return 'conflict';
  if (error instanceof AppendRefused) return 'refused';
  return error instanceof EventStoreFull ? 'full' : 'unavailable';
}
