// What a process counts: what callers send never becomes a label, and each append that fails has its kind.
import {
  AppendRefused,
  type EventStore,
  EventStoreFull,
  EventStoreUnavailable,
  WrongExpectedRevision,
} from '@ledger/event-store/event-store.ts';
import test from 'ava';
import { Registry } from 'prom-client';
import { createCounters } from '../../src/monitoring/counters.ts';

test('requests by their route, and appends that failed by the reason', async (t) => {
  const registry = new Registry();
  const { countRequest, watch } = createCounters([registry], { monotonicMs: () => 0 });
  const answered = { status: 404, durationMs: 1 };
  countRequest({ ...answered, method: 'GET', route: '/generic/pay/:id' });
  for (const method of ['GET', 'ANY-1', 'ANY-2']) countRequest({ ...answered, method, route: null });
  for (const error of [
    new WrongExpectedRevision('payment-A', 0, 1),
    new AppendRefused('It is too large'),
    new EventStoreFull('It is full'),
    new EventStoreUnavailable('It is away'),
  ]) {
    const failing = { append: () => Promise.reject(error) } as unknown as EventStore;
    await t.throwsAsync(watch(failing).append('payment-A', [], 'no_stream'), { is: error });
  }
  const text = await registry.metrics();
  t.regex(text, /seconds_count\{method="GET",route="\/generic\/pay\/:id",status="404"\} 1$/m);
  t.regex(text, /seconds_count\{method="",route="",status="404"\} 3$/m);
  t.notRegex(text, /ANY-/);
  for (const kind of ['conflict', 'refused', 'full', 'unavailable'])
    t.regex(text, new RegExp(`\\{error="${kind}"\\} 1$`, 'm'), kind);
});
