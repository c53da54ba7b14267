// What an auditor reads of a payment, and that a change of one byte is named.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { historyText } from '../../src/cli/history.ts';
import { firstBroken, genesisHash, seal } from '../../src/events/envelope.ts';
import type { PaymentEvent } from '../../src/events/payment.ts';
import { schemaVersion } from '../../src/events/upcast.ts';
import type { RecordedEvent } from '../../src/eventstore/event-store.ts';
import { applied, chosen, requested, result } from '../support/payments.ts';

function stored(...events: PaymentEvent[]): RecordedEvent[] {
  const id = randomUUID();
  const cause = { commandId: id, correlationId: id, causationId: id, actor: 'gateway' };
  return seal(events, genesisHash, cause, schemaVersion).map((event, revision) => ({
    ...event,
    streamName: 'payment-X',
    revision,
    position: { commit: BigInt(revision), prepare: BigInt(revision) },
    created: new Date('2026-11-20T01:00:00.000Z'),
  }));
}

const paid = () =>
  stored(requested(), chosen(1), applied(result(1, 'failed')), applied(result(1, 'succeeded')));

test('every event is named with its time, actor and the status after it', (t) => {
  const text = historyText(paid());
  t.regex(text, /0 {2}2026-11-20T09:00:00\+08:00 {2}PaymentRequested +requested +gateway/);
  t.regex(text, /2 .*PaymentFailed +failed/);
  t.regex(text, /3 .*PaymentSucceeded +succeeded/);
  t.true(text.endsWith('The chain of 4 events is whole.'));
  t.false(text.includes('AMINAH'), 'nobody is named');
});

test('a change of one value, a change of the metadata and an event taken out are each named', (t) => {
  t.is(firstBroken(paid()), null);
  const changed = structuredClone(paid());
  Object.assign(changed[2]?.data as object, { at: '2026-11-20T01:05:01.000Z' });
  t.is(firstBroken(changed), 2);
  const actor = structuredClone(paid());
  Object.assign(actor[1]?.metadata as object, { actor: 'staff:somebody' });
  t.is(firstBroken(actor), 1);
  t.is(firstBroken(paid().toSpliced(1, 1)), 1);
  t.is(firstBroken(paid().toSpliced(0, 1)), 0);
  t.true(historyText(changed).endsWith('it, or the one before it, is not what was written.'));
});

test('the time shown is the one that the chain covers; an event that cannot be read is named all the same', (t) => {
  const moved = paid().map((event) => ({ ...event, created: new Date('2030-01-01T00:00:00.000Z') }));
  t.is(historyText(moved), historyText(paid()));
  const unreadable = structuredClone(paid());
  Object.assign(unreadable[3]?.data as object, { source: 'nobody' });
  const text = historyText(unreadable);
  t.regex(text, /3 {2}unreadable +PaymentSucceeded +failed/);
  t.regex(text, /The chain is broken at event 3/);
});

test('a payment that is not there is a sentence', (t) => {
  t.is(historyText([]), 'There is no such payment.');
});
