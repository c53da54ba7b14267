// Attacks on the file of the event store.
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { forAll } from '@ledger/transparency-log/key.ts';
import test from 'ava';
import { lastCheckpoint } from '../../../src/audit/seals/find-seals.ts';
import { sealingRefused } from '../../../src/audit/seals/sealing-status.ts';
import { acceptOlderLog } from '../../../src/audit/verify/acknowledge.ts';
import { createExecute, loadHead } from '../../../src/commands/execute.ts';
import { paymentDecider } from '../../../src/commands/payment.ts';
import { UnreadableEvent } from '../../../src/events/codec.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { sealsStream } from '../../../src/events/seals.ts';
import { userStream } from '../../../src/events/user.ts';
import { loadAccount } from '../../../src/http/console/frame/session.ts';
import { temporaryFolder } from '../../embedded/helpers.ts';
import { append, paymentRequested } from '../../projections/helpers.ts';
import { choose } from '../../support/payments.ts';
import { freshSealing } from '../fresh-sealing.ts';
import {
  cause,
  filled,
  key,
  openStore,
  otherKey,
  paymentId,
  sealAll,
  tampered,
  userId,
  verdictOn,
} from '../ledger.ts';
import { changeEvent, remove, replace, streamIn, withData } from '../tamper.ts';
import { file, personalData, raised, refusalOf, stream, withStolenKey } from './ledger.ts';

test.serial('edit: an amount is changed in the file', async (t) => {
  const { eventStore } = await tampered(t, file, (sqlite) =>
    changeEvent(sqlite, { stream, revision: 0 }, replace('"amountSen":12050', '"amountSen":92050')),
  );
  t.truthy((await verdictOn(eventStore)).first('changed events'));
});

test.serial('rehash: the payment is made anew with matching hashes', async (t) => {
  const { eventStore } = await tampered(t, file, raised);
  t.regex((await verdictOn(eventStore)).first('what was sealed') ?? '', /some are not what was sealed/);
});

test.serial('edit, rehash: nothing is decided or shown on events that were changed', async (t) => {
  for (const edit of [
    (sqlite: DatabaseSync) =>
      changeEvent(sqlite, { stream, revision: 0 }, replace('"amountSen":12050', '"amountSen":92050')),
    (sqlite: DatabaseSync) => changeEvent(sqlite, { stream, revision: 1 }, withData({ bankCode: 'X' })),
    remove(stream, 1),
  ]) {
    const { eventStore } = await tampered(t, file, edit);
    await t.throwsAsync(loadHead(eventStore, stream, paymentDecider), { instanceOf: UnreadableEvent });
    const execute = createExecute({ eventStore, decider: paymentDecider, seal: personalData.seal });
    await t.throwsAsync(execute(stream, choose(2), cause()), { instanceOf: UnreadableEvent });
  }
});

test.serial('edit: nobody signs in to an account that was changed', async (t) => {
  const { eventStore } = await tampered(t, file, (sqlite) =>
    changeEvent(sqlite, { stream: userStream(userId), revision: 0 }, replace('"Aminah"', '"Amanah"')),
  );
  await t.throwsAsync(loadAccount(eventStore, userId), { instanceOf: UnreadableEvent });
  t.truthy((await verdictOn(eventStore)).first('changed events'));
});

test.serial('cut tail: the last events of the log, and their seals', async (t) => {
  const { eventStore } = await tampered(t, file, (sqlite) => {
    sqlite.exec(`delete from events where stream <> ${streamIn(sealsStream)} and position >
      (select position from events where stream = ${streamIn(paymentStream(paymentId(7)))} and revision = 1)`);
    sqlite.exec(`delete from events where stream = ${streamIn(sealsStream)} and revision > 5`);
  });
  t.deepEqual((await verdictOn(eventStore)).found, [], 'the log alone does not show it');
  t.regex(
    (await refusalOf(t, eventStore)) ?? '',
    /^The log does not agree with the checkpoint kept in PostgreSQL$/,
  );
});

test.serial('delete seals: and a payment rehashed, for the genuine key to seal', async (t) => {
  const { eventStore } = await tampered(t, file, (sqlite) => {
    raised(sqlite);
    remove(sealsStream)(sqlite);
  });
  t.regex(
    (await refusalOf(t, eventStore)) ?? '',
    /^The log does not agree with the checkpoint kept in PostgreSQL$/,
  );
  t.deepEqual(await eventStore.load(sealsStream), []);
});

test.serial('replace key: the forged log is sealed with another key', async (t) => {
  const { eventStore } = await tampered(t, file, (sqlite) => {
    raised(sqlite);
    remove(sealsStream)(sqlite);
  });
  const elsewhere = await freshSealing(t);
  await sealAll(eventStore, elsewhere, filled, otherKey);
  t.truthy((await verdictOn(eventStore)).first('keys of seals'));
  t.truthy(await refusalOf(t, eventStore));
});

test.serial('stolen SEAL_KEY: the forged log is sealed anew, elsewhere', async (t) => {
  const eventStore = await withStolenKey(t);
  t.deepEqual((await verdictOn(eventStore)).found, [], 'the log alone does not show it');
  t.truthy(await refusalOf(t, eventStore));
});

test.serial('older copy restored: of the whole event store', async (t) => {
  const older = join(await temporaryFolder(t), 'older.db');
  const { eventStore, close } = await openStore(older);
  t.teardown(close);
  await append(eventStore, paymentId(1), [paymentRequested()]);
  const elsewhere = await freshSealing(t);
  await sealAll(eventStore, elsewhere, 1);
  t.truthy(await refusalOf(t, eventStore));
});

test.serial('older copy restored on purpose: staff accept it, which verify says from then on', async (t) => {
  const own = await freshSealing(t);
  const { eventStore: whole } = await tampered(t, file, remove(sealsStream));
  await sealAll(whole, own, filled);
  const lost = (await lastCheckpoint(whole))?.checkpoint;
  const { eventStore, close } = await openStore(join(await temporaryFolder(t), 'older.db'));
  t.teardown(close);
  await append(eventStore, paymentId(1), [paymentRequested()]);
  const given = { at: new Date('2026-11-20T02:00:00.000Z'), reason: 'The disk failed' };
  const accept = (kept = own.kept) => acceptOlderLog({ eventStore, kept, key }, given, cause());
  t.regex(
    (await refusalOf(t, eventStore, key, null, own)) ?? '',
    /does not agree with the checkpoint kept in PostgreSQL/,
  );
  const accepted = await accept();
  t.deepEqual(
    accepted.map(({ size, note }) => ({ size, note })),
    [lost, lost].map((each) => ({ size: filled, note: each?.note })),
    'in PostgreSQL and in the file',
  );
  t.deepEqual(await own.kept.load(), []);
  t.is(await sealingRefused(own.db), null);
  await sealAll(eventStore, own, 2);
  t.deepEqual(await accept(), [], 'the log has what is kept');
  const verdict = await verdictOn(eventStore);
  t.deepEqual(verdict.found, []);
  t.deepEqual(verdict.explained, [
    'An older copy of the log was restored, without what was sealed up to 45 events. Accepted by gateway on 2026-11-20T02:00:00.000Z: The disk failed',
  ]);
  const distrusting = await verdictOn(eventStore, [forAll(otherKey.publicKey)]);
  t.truthy(distrusting.first('acknowledgements'));
  t.deepEqual(distrusting.explained, []);
});

test.serial('event inserted: a payment that nobody made, in the middle of the log', async (t) => {
  const { eventStore, close } = await openStore(join(await temporaryFolder(t), 'other.db'));
  await append(eventStore, paymentId(77), [paymentRequested()]);
  const [made] = await eventStore.load(paymentStream(paymentId(77)));
  await close();
  const { eventStore: inserted } = await tampered(t, file, (sqlite) => {
    const name = paymentStream(paymentId(77));
    sqlite.exec('update events set position = -position where position > 20');
    sqlite.exec('update events set position = 1 - position where position < 0');
    sqlite.prepare('insert into streams (name) values (?)').run(name);
    const columns = 'position, stream, revision, id, type, message';
    sqlite.exec(`insert into events (${columns}) select 21, ${streamIn(name)}, 0, randomblob(16), type, message
      from events where stream = ${streamIn(stream)} and revision = 0`);
  });
  t.truthy(made);
  t.truthy((await verdictOn(inserted)).first('what was sealed'));
});
