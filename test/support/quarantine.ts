/** What is in quarantine. */
import { randomUUID } from 'node:crypto';
import type { EventStore, RecordedEvent } from '@ledger/event-store/event-store.ts';
import { createExecute } from '../../src/commands/execute.ts';
import { quarantineFold, unmatchedIdOf, unmatchedStream } from '../../src/events/unmatched.ts';
import { patienceMs } from '../embedded/helpers.ts';
import { personalData } from './personal-data.ts';

/** Everything in quarantine, in the order of the log. */
export async function quarantined(eventStore: Pick<EventStore, 'subscribe'>): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  const signal = AbortSignal.timeout(patienceMs);
  for await (const message of eventStore.subscribe({
    streamPrefixes: [unmatchedStream],
    after: null,
    signal,
  })) {
    if (message.kind === 'caught_up') break;
    if (message.kind === 'event') events.push(message.event);
  }
  return events;
}

/** Where the console has the exception of the only result in quarantine. */
export async function onlyUnmatchedPath(eventStore: Pick<EventStore, 'subscribe'>): Promise<string> {
  const [event, ...others] = await quarantined(eventStore);
  if (!event || others.length > 0) throw new Error('There is not one result in quarantine');
  return `unmatched/${unmatchedIdOf(event)}`;
}

/** Adds results to those of the last one's transaction, all with one append. */
export async function addUnmatched(eventStore: EventStore, count: number): Promise<void> {
  const last = (await quarantined(eventStore)).at(-1);
  if (!last) throw new Error('Nothing is in quarantine');
  const { data } = quarantineFold.read(last);
  const copies = Array.from({ length: count }, (_, copy) => ({
    type: 'GatewayResultUnmatched' as const,
    data: { ...data, evidence: { plain: {} }, fingerprint: `copy ${copy}` },
  }));
  const decider = { ...quarantineFold, decide: () => copies };
  const id = randomUUID();
  const cause = { commandId: id, correlationId: id, causationId: id, actor: 'gateway' };
  await createExecute({ eventStore, decider, seal: personalData.seal })(last.streamName, null, cause);
}
