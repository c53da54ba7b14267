// Attacks on an export, and what still holds after an erasure.
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { isDestroyed, keyIn, readKeyId } from '@ledger/personal-data/key-store.ts';
import { forAll } from '@ledger/transparency-log/key.ts';
import test from 'ava';
import { createLines } from '../../../src/audit/export/lines.ts';
import { proveEvents } from '../../../src/audit/seals/leaves.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { createErase } from '../../../src/personal-data/erase.ts';
import { temporaryFolder } from '../../embedded/helpers.ts';
import { payer } from '../../support/payments.ts';
import { createDatabase } from '../../support/postgres.ts';
import { filled, otherKey, paymentId, sealAll, sealing, tampered, verdictOn } from '../ledger.ts';
import {
  db,
  exported,
  exportOf,
  file,
  personalData,
  raised,
  relined,
  signal,
  stream,
  verified,
} from './ledger.ts';

test.serial('export: nothing changed', async (t) => {
  t.like(await verified(t, exported), {
    violation: null,
    payments: 9,
    unproven: 0,
    checkpoint: { size: filled },
  });
  t.regex(
    (await verified(t, exported, [forAll(otherKey.publicKey)])).violation?.reason ?? '',
    /not signed with a trusted key/,
  );
});

test.serial('export forged: an amount times 100, with new hashes and checksums', async (t) => {
  const eventStore = (await tampered(t, file, raised)).eventStore;
  const forged = new Map((await eventStore.load(stream)).map((event) => [event.revision, event]));
  const content = relined(exported, (lines) =>
    lines.map((line) => {
      const event = line.stream === stream ? forged.get(Number(line.revision)) : undefined;
      return event ? { ...line, data: event.data, metadata: event.metadata } : line;
    }),
  );
  t.regex((await verified(t, content)).violation?.reason ?? '', /are not what the checkpoint was signed for/);
});

test.serial('payment left out of an export: by its lines, and with its leaves made anonymous', async (t) => {
  const last = paymentStream(paymentId(9));
  const count = exported.split(`"stream":"${last}"`).length - 1;
  const without = (lines: Record<string, unknown>[]) =>
    lines
      .filter((line) => line.stream !== last)
      .map((line) => (line.end ? { end: { events: 9 * 4 + 6 - count, payments: 8 } } : line));
  t.regex(
    (await verified(t, relined(exported, without))).violation?.reason ?? '',
    /names an event that is not in the file/,
  );
  const { eventStore } = await tampered(t, file, () => {});
  await db.raw(`create table hidden as select * from payments.payments where transaction_id = ?`, [
    paymentId(9),
  ]);
  await db.raw('delete from payments.payments where transaction_id = ?', [paymentId(9)]);
  await t.throwsAsync(exportOf(eventStore), { message: /The read model of payments lacks payment-PAYMENT/ });
  await db.raw('insert into payments.payments select * from hidden');
  await db.raw('drop table hidden');
});

test.serial('erasure: with its keys destroyed, the proofs and exports of a payment still hold', async (t) => {
  const { eventStore } = await tampered(t, file, () => {});
  const own = sealing((await createDatabase()).url, await temporaryFolder(t));
  t.teardown(() => own.db.destroy());
  const id = paymentId(7);
  const events = await eventStore.load(paymentStream(id));
  const before = await proveEvents(eventStore, events, signal);
  t.true(before.every((each) => each !== null));
  const payersIn = async () => (await exportOf(eventStore, { opened: 'yes' })).split(payer.name).length - 1;
  const payers = await payersIn();
  t.true(payers >= 9);
  const erase = createErase({
    ...{ store: personalData.store, eventStore, runtime: systemRuntime },
    onErased: async () => true,
  });
  t.deepEqual(await erase([{ subject: id, reason: 'requested', actor: 'staff:tests' }]), [id]);
  const after = await eventStore.load(paymentStream(id));
  t.is(after.at(-1)?.type, 'PersonalDataErased');
  const { keys } = Object(after.at(-1)?.data) as { keys: string[] };
  const blocks = await personalData.store.read(keys.map((key) => readKeyId(key)?.block ?? ''));
  for (const { block, index } of keys.map(readKeyId).filter((each) => each !== null))
    t.true(isDestroyed(keyIn(blocks.get(block) as Buffer, index)), 'in PostgreSQL, too');
  t.true((await payersIn()) < payers);

  t.deepEqual(await proveEvents(eventStore, after, signal), [...before, null]);
  t.is((await verified(t, exported)).violation, null, 'an export from before');
  await sealAll(eventStore, own, filled + 1);
  t.deepEqual((await proveEvents(eventStore, after, signal)).slice(0, -1), before);
  t.like(await verified(t, await exportOf(eventStore)), {
    ...{ violation: null, payments: 9, unproven: 0 },
    checkpoint: { size: filled + 1 },
  });
  t.deepEqual((await verdictOn(eventStore)).found, []);
  const lines = createLines();
  const at = '2026-11-20T00:00:00.000Z';
  const range = { from: at, to: new Date(Date.parse(at) + 1).toISOString(), merchant: null, exportedAt: at };
  const content = [
    lines.head({ version: 2, ...range }),
    lines.payment(events, { proofs: before }),
    lines.end(),
  ].join('');
  t.like(await verified(t, content), { violation: null, payments: 1, unproven: 0, checkpoint: null });
  const swapped = relined(content, (all) =>
    all.map((line) => (line.revision === 1 ? { ...line, proof: before[2] } : line)),
  );
  t.regex(
    (await verified(t, swapped)).violation?.reason ?? '',
    /not the one in the log that its proof is for/,
  );
});
