// Results that no payment takes, on a real event store: kept once, in a chain of their own.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { createFingerprint } from '../../src/commands/fingerprint.ts';
import { createQuarantine, type UnmatchedReport } from '../../src/commands/unmatched.ts';
import { readUnmatchedResult } from '../../src/events/codec.ts';
import { unmatchedStream } from '../../src/events/unmatched.ts';
import type { RecordedEvent } from '../../src/eventstore/event-store.ts';
import { open, startServer } from '../eventstore/helpers.ts';
import { checkChain } from '../support/chain.ts';
import { resultAt } from '../support/payments.ts';
import { personalData } from '../support/personal-data.ts';

const parts = { seal: personalData.seal, fingerprint: createFingerprint('a key of the tests') };

// Serial, as only one connection of a process can append at a time.

const cause = () => ({
  commandId: randomUUID(),
  correlationId: randomUUID(),
  causationId: randomUUID(),
  actor: 'gateway',
});

function unmatched(raw: Record<string, string>, over: Partial<UnmatchedReport> = {}) {
  return {
    at: resultAt,
    channel: 'generic',
    verified: true,
    reason: 'unknown_transaction',
    raw,
    ...over,
  } as const satisfies UnmatchedReport;
}

/** What an event in the quarantine holds sealed. */
async function rawOf(stored: RecordedEvent | undefined): Promise<Record<string, string>> {
  if (!stored) throw new Error('There is no such event');
  const { evidence } = readUnmatchedResult(stored).data;
  const opened = await personalData.open(evidence, { stream: unmatchedStream, field: 'evidence' });
  if (opened.kind !== 'open') throw new Error(opened.kind);
  return opened.value;
}

test.serial('a result is kept whole; an immediate repeat adds nothing, another result does', async (t) => {
  const eventStore = open(t, (await startServer(t)).port);
  const quarantine = createQuarantine({ eventStore, ...parts });
  const first = unmatched({ TRANS_ID: 'X', STATUS: '1', BUYER_NAME: 'é😀' });
  await quarantine(first, cause());
  // The order of the fields and the time do not make it another result.
  const raw = { BUYER_NAME: 'é😀', STATUS: '1', TRANS_ID: 'X' };
  await quarantine(unmatched(raw, { at: '2026-11-21T00:00:00.000Z' }), cause());
  const [kept, ...others] = await eventStore.load(unmatchedStream);
  t.deepEqual(others, []);
  t.notRegex(JSON.stringify(kept?.data), /STATUS/);
  t.deepEqual(await rawOf(kept), first.raw);
  await quarantine(unmatched({ ...raw, STATUS: '0' }), cause());
  await quarantine(unmatched({ ...raw, STATUS: '0' }, { channel: 'landreg' }), cause());
  const stored = await eventStore.load(unmatchedStream);
  t.is(stored.length, 3);
  checkChain(t, stored);
});

test.serial('the same result 20 times at once is kept once', async (t) => {
  const eventStore = open(t, (await startServer(t)).port);
  const quarantine = createQuarantine({ eventStore, ...parts });
  const same = unmatched({ TRANS_ID: 'X' });
  await Promise.all(Array.from({ length: 20 }, () => quarantine(same, cause())));
  t.is((await eventStore.load(unmatchedStream)).length, 1);
});

test.serial('200 results at once are all kept, each once', async (t) => {
  const eventStore = open(t, (await startServer(t)).port);
  const quarantine = createQuarantine({ eventStore, ...parts });
  const ids = Array.from({ length: 200 }, (_, index) => `X${index}`);
  await Promise.all(ids.map((id) => quarantine(unmatched({ TRANS_ID: id }), cause())));
  const stored = await eventStore.load(unmatchedStream);
  const kept = await Promise.all(stored.map(async (event) => (await rawOf(event)).TRANS_ID ?? ''));
  t.deepEqual(kept.toSorted(), ids.toSorted());
  checkChain(t, stored);
});

test.serial('a result that does not fit its schema is not written', async (t) => {
  const eventStore = open(t, (await startServer(t)).port);
  const quarantine = createQuarantine({ eventStore, ...parts });
  await t.throwsAsync(quarantine(unmatched({}, { at: 'today' }), cause()), {
    name: 'UnreadableEvent',
  });
  t.is(await eventStore.loadLast(unmatchedStream), null);
});
