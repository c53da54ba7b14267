// Results that no payment takes, on a real event store: kept once, in a chain of their own.
import { randomUUID } from 'node:crypto';
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import { createFingerprint } from '@ledger/personal-data/fingerprint.ts';
import test from 'ava';
import { createQuarantine, type UnmatchedReport } from '../../src/commands/unmatched.ts';
import { quarantineFold } from '../../src/events/unmatched.ts';
import { open, startServer } from '../event-store/helpers.ts';
import { checkChain } from '../support/chain.ts';
import { resultAt } from '../support/payments.ts';
import { personalData } from '../support/personal-data.ts';
import { addUnmatched, quarantined } from '../support/quarantine.ts';

const parts = { seal: personalData.seal, fingerprint: createFingerprint('a key of the tests') };

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
  const { evidence } = quarantineFold.read(stored).data;
  const opened = await personalData.open(evidence, { stream: stored.streamName, field: 'evidence' });
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
  const [kept, ...others] = await quarantined(eventStore);
  t.deepEqual(others, []);
  t.notRegex(JSON.stringify(kept?.data), /STATUS/);
  t.deepEqual(await rawOf(kept), first.raw);
  await quarantine(unmatched({ ...raw, STATUS: '0' }), cause());
  await quarantine(unmatched({ ...raw, STATUS: '0' }, { channel: 'landreg' }), cause());
  const stored = await quarantined(eventStore);
  t.is(stored.length, 3);
  t.is(new Set(stored.map(({ streamName }) => streamName)).size, 2);
});

test.serial('the same result 20 times at once is kept once', async (t) => {
  const eventStore = open(t, (await startServer(t)).port);
  const quarantine = createQuarantine({ eventStore, ...parts });
  const same = unmatched({ TRANS_ID: 'X' });
  await Promise.all(Array.from({ length: 20 }, () => quarantine(same, cause())));
  t.is((await quarantined(eventStore)).length, 1);
});

test.serial('200 results at once are all kept, each once', async (t) => {
  const eventStore = open(t, (await startServer(t)).port);
  const quarantine = createQuarantine({ eventStore, ...parts });
  const ids = Array.from({ length: 200 }, (_, index) => `X${index}`);
  await Promise.all(ids.map((id) => quarantine(unmatched({ TRANS_ID: id }), cause())));
  const stored = await quarantined(eventStore);
  const kept = await Promise.all(stored.map(async (event) => (await rawOf(event)).TRANS_ID ?? ''));
  t.deepEqual(kept.toSorted(), ids.toSorted());
});

test.serial('two results by turns, 100 times, are kept once each', async (t) => {
  const eventStore = open(t, (await startServer(t)).port);
  const quarantine = createQuarantine({ eventStore, ...parts });
  const two = [unmatched({ TRANS_ID: 'X', STATUS: '0' }), unmatched({ TRANS_ID: 'X', STATUS: '1' })];
  for (let turn = 0; turn < 100; turn += 1) for (const each of two) await quarantine(each, cause());
  const stored = await quarantined(eventStore);
  t.is(stored.length, 2);
  checkChain(t, stored);
});

test.serial('of one transaction 500 results are kept, and a further one is refused', async (t) => {
  const eventStore = open(t, (await startServer(t)).port);
  const quarantine = createQuarantine({ eventStore, ...parts });
  const ofOne = (amount: number) => unmatched({ trans_id: 'X', STATUS: '1', AMOUNT: String(amount) });
  await quarantine(ofOne(0), cause());
  await addUnmatched(eventStore, 498);
  await quarantine(ofOne(499), cause());
  await t.throwsAsync(quarantine(ofOne(500), cause()), { name: 'Refused', message: /^Too many results/ });
  await quarantine(ofOne(499), cause());
  await quarantine({ ...ofOne(501), reason: 'unreadable_payment' }, cause());
  for (let amount = 0; amount < 3; amount += 1)
    await quarantine(unmatched({ STATUS: '1', AMOUNT: String(amount) }), cause());
  const kept = await Promise.all((await quarantined(eventStore)).map(rawOf));
  // The first, the one with which there are 500, and the one that may be of a payment.
  t.is(kept.filter((raw) => 'trans_id' in raw).length, 3);
  t.is(kept.filter((raw) => 'STATUS' in raw && !('trans_id' in raw)).length, 3);
});

test.serial('a result that does not fit its schema is not written', async (t) => {
  const eventStore = open(t, (await startServer(t)).port);
  const quarantine = createQuarantine({ eventStore, ...parts });
  await t.throwsAsync(quarantine(unmatched({}, { at: 'today' }), cause()), {
    name: 'UnreadableEvent',
  });
  t.deepEqual(await quarantined(eventStore), []);
});
