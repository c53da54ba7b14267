// The table of content/docs/seals.md: each attack is carried out on the files of a ledger, and each is detected.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import {
  isDestroyed,
  keyIn,
  keysPerBlock,
  readKeyId,
  wrappingKeys,
} from '@ledger/personal-data/key-store.ts';
import { createPersonalData, type PersonalData } from '@ledger/personal-data/personal-data.ts';
import { createPostgresKeyStore, destroyedChannel } from '@ledger/personal-data/postgres-key-store.ts';
import { listenForNotifications } from '@ledger/postgres/notifications.ts';
import { runProjection } from '@ledger/projections/runtime/run.ts';
import { forAll, sealKeyOf } from '@ledger/transparency-log/key.ts';
import { checkpointText, rawKeyOf, signatureLine } from '@ledger/transparency-log/note.ts';
import { offerTo } from '@ledger/transparency-log/offer.ts';
import { growTree, leafHash } from '@ledger/transparency-log/tree.ts';
import { createWitness } from '@ledger/transparency-log/witness.ts';
import test, { type ExecutionContext } from 'ava';
import type { Knex } from 'knex';
import { beginExport, readExportRequest } from '../../src/audit/export/export.ts';
import { checksumOf, createLines, firstChecksum } from '../../src/audit/export/lines.ts';
import { sealingRefused } from '../../src/audit/seals/kept.ts';
import { lastCheckpoint, proveEvents } from '../../src/audit/seals/leaves.ts';
import { startSealer } from '../../src/audit/seals/sealer.ts';
import { acceptOlderLog } from '../../src/audit/verify/acknowledge.ts';
import { verifyFile } from '../../src/audit/verify/file.ts';
import { verify } from '../../src/audit/verify/verify.ts';
import { createExecute, loadHead } from '../../src/commands/execute.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import { unmatchedDecider } from '../../src/commands/unmatched.ts';
import { UnreadableEvent } from '../../src/events/codec.ts';
import { paymentStream } from '../../src/events/payment.ts';
import { sealsStream } from '../../src/events/seals.ts';
import { userStream } from '../../src/events/user.ts';
import { loadAccount } from '../../src/http/console/frame/session.ts';
import { createErase } from '../../src/personal-data/erase.ts';
import { payments } from '../../src/projections/payments/projection.ts';
import { temporaryFolder, until } from '../embedded/helpers.ts';
import { append, log, paymentRequested, reached } from '../projections/helpers.ts';
import { choose, payer } from '../support/payments.ts';
import { createDatabase } from '../support/postgres.ts';
import {
  cause,
  fill,
  filled,
  key,
  openStore,
  otherKey,
  paymentId,
  sealAll,
  sealing,
  tampered,
  userId,
  verdictOn,
} from './ledger.ts';
import { changeEvent, forge, replace } from './tamper.ts';

let folder: string;
let file: string;
/** What the sealer keeps outside the event store. */
let place: ReturnType<typeof sealing>;
let db: Knex;
let personalData: PersonalData;
let exported: string;
const { signal } = new AbortController();

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ledger-attacks-'));
  file = join(folder, 'eventstore.db');
  place = sealing((await createDatabase()).url, folder);
  db = place.db;
  const { eventStore, close } = await openStore(file);
  const stores = { db, databaseUrl: place.databaseUrl, log, runtime: systemRuntime };
  personalData = createPersonalData({
    ...stores,
    store: createPostgresKeyStore({
      ...stores,
      wrapping: wrappingKeys(Buffer.alloc(32, 'k').toString('base64'), []),
    }),
    listen: (onNotification) =>
      listenForNotifications({ ...stores, channel: destroyedChannel, onNotification }),
    ahead: keysPerBlock,
  });
  await personalData.start();
  await fill(eventStore, personalData);
  await sealAll(eventStore, place, filled);
  const projection = runProjection({ ...stores, projection: payments, eventStore, personalData });
  const head = await eventStore.head();
  if (head) await reached(db, payments.name, head);
  exported = await exportOf(eventStore);
  await projection.stop();
  await close();
});
test.after.always(async () => {
  await personalData?.stop();
  await db?.destroy();
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

async function exportOf(eventStore: EventStore, fields: { opened?: string } = {}): Promise<string> {
  const asked = readExportRequest({ from: '2026-11-20', to: '2026-11-20', ...fields }, null);
  const { pieces } = await beginExport(asked, { eventStore, db, personalData, runtime: systemRuntime });
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

async function verified(t: ExecutionContext, content: string, trusted = [forAll(key.publicKey)]) {
  const path = join(await temporaryFolder(t), 'export.jsonl');
  await writeFile(path, content);
  return await verifyFile(path, trusted);
}

/** The lines again, with checksums that fit, as whoever changes a file can make them. */
function relined(
  content: string,
  change: (lines: Record<string, unknown>[]) => Record<string, unknown>[],
): string {
  const lines = content
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  let checksum = firstChecksum;
  const written = change(lines).map(({ line: _, checksum: __, ...rest }, index) => {
    const text = JSON.stringify({ line: index + 1, ...rest }).slice(0, -1);
    checksum = checksumOf(checksum, text);
    return `${text},"checksum":"${checksum}"}\n`;
  });
  return written.join('');
}

const stream = paymentStream(paymentId(4));
const streamIn = (name: string) => `(select id from streams where name = '${name}')`;
const change = (edit: (data: Record<string, unknown>) => void) => (sqlite: DatabaseSync) => {
  let previousHash: string | undefined;
  for (const revision of [0, 1, 2, 3])
    changeEvent(sqlite, { stream, revision }, (message) => {
      const forged = forge(message, revision === 0 ? edit : () => {}, previousHash);
      previousHash = forged.hash;
      return forged.message;
    });
};
const raised = change((data) => Object.assign(data, { amountSen: 1_205_000 }));

/** Starts a sealer on what it keeps; resolves to why it refuses. */
async function refusalOf(
  t: ExecutionContext,
  eventStore: EventStore,
  signer = key,
  previous: typeof key | null = null,
  own = sealing(place.databaseUrl, folder),
): Promise<string | null> {
  t.teardown(() => own.db.destroy());
  await own.kept.createTable();
  await own.kept.refuse(null);
  const keys = () => ({ current: signer, previous });
  const sealer = startSealer({ ...own, eventStore, keys, runtime: systemRuntime, log });
  const reason = await until(async () => (await sealingRefused(own.db)) ?? false);
  await sealer.stop();
  return reason || null;
}

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
    (sqlite: DatabaseSync) =>
      changeEvent(
        sqlite,
        { stream, revision: 1 },
        (it) => forge(it, (data) => Object.assign(data, { bankCode: 'X' })).message,
      ),
    (sqlite: DatabaseSync) =>
      sqlite.exec(`delete from events where stream = ${streamIn(stream)} and revision = 1`),
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
    sqlite.exec(`delete from events where stream = ${streamIn(sealsStream)}`);
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
    sqlite.exec(`delete from events where stream = ${streamIn(sealsStream)}`);
  });
  const elsewhere = sealing((await createDatabase()).url, await temporaryFolder(t));
  t.teardown(() => elsewhere.db.destroy());
  await sealAll(eventStore, elsewhere, filled, otherKey);
  t.truthy((await verdictOn(eventStore)).first('keys of seals'));
  t.truthy(await refusalOf(t, eventStore));
});

/** The forged log, sealed anew with the genuine key. */
async function withStolenKey(t: ExecutionContext, from = file) {
  const { eventStore } = await tampered(t, from, (sqlite) => {
    raised(sqlite);
    sqlite.exec(`delete from events where stream = ${streamIn(sealsStream)}`);
  });
  const elsewhere = sealing((await createDatabase()).url, await temporaryFolder(t));
  t.teardown(() => elsewhere.db.destroy());
  await sealAll(eventStore, elsewhere, filled);
  return eventStore;
}

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
  const elsewhere = sealing((await createDatabase()).url, await temporaryFolder(t));
  t.teardown(() => elsewhere.db.destroy());
  await sealAll(eventStore, elsewhere, 1);
  t.truthy(await refusalOf(t, eventStore));
});

test.serial('older copy restored on purpose: staff accept it, which verify says from then on', async (t) => {
  const own = sealing((await createDatabase()).url, await temporaryFolder(t));
  t.teardown(() => own.db.destroy());
  const { eventStore: whole } = await tampered(t, file, (sqlite) =>
    sqlite.exec(`delete from events where stream = ${streamIn(sealsStream)}`),
  );
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

test.serial(
  'two logs shown to two auditors: neither continues the checkpoint that the other kept',
  async (t) => {
    const { eventStore } = await tampered(t, file, () => {});
    const other = await withStolenKey(t);
    const checkpoint = (await lastCheckpoint(other))?.checkpoint ?? null;
    const given = {
      eventStore,
      db,
      databaseUrl: place.databaseUrl,
      trusted: [forAll(key.publicKey)],
      personalData,
      log,
      signal,
    };
    const { violations } = await verify({ ...given, since: checkpoint, runtime: systemRuntime }, () => {});
    t.regex(violations[0]?.first ?? '', /has no seal of the checkpoint of 45 events/);
  },
);

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
    execute: createExecute({ eventStore, decider: paymentDecider }),
    executeUnmatched: createExecute({ eventStore, decider: unmatchedDecider }),
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

test.serial(
  'witnesses: what contradicts the checkpoint that they signed is not signed, and its verification fails',
  async (t) => {
    const seed = sealKeyOf('717e'.repeat(16));
    const name = 'witness.example/1';
    const logs = [{ kind: 'log', name: 'ledger.example/log', publicKey: rawKeyOf(key.publicKey) } as const];
    const saved = new Map<string, string>();
    const witness = createWitness({
      name,
      key: seed,
      logs,
      kept: {
        load: async (origin) => saved.get(origin) ?? null,
        save: async (origin, note) => void saved.set(origin, note),
      },
      now: () => new Date('2026-11-20T02:00:00.000Z'),
    });
    const statuses: number[] = [];
    const server = createServer(async (request, response) => {
      const answer = await witness(await text(request));
      statuses.push(answer.status);
      response.writeHead(answer.status, { 'Content-Type': answer.type }).end(answer.text);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const offer = offerTo([url, 'http://127.0.0.1:1'], { post: fetch, runtime: systemRuntime, log });
    const unsealed = (sqlite: DatabaseSync) =>
      void sqlite.exec(`delete from events where stream = ${streamIn(sealsStream)}`);
    const known = [{ kind: 'witness', name, publicKey: rawKeyOf(seed.publicKey) } as const];
    const witnesses = (eventStore: EventStore, needed: number) =>
      verify(
        {
          eventStore,
          db,
          databaseUrl: place.databaseUrl,
          trusted: null,
          witnesses: { known, needed },
          personalData,
          log,
          signal,
          since: null,
          runtime: systemRuntime,
        },
        () => {},
      );
    const { eventStore } = await tampered(t, file, unsealed);
    const elsewhere = sealing((await createDatabase()).url, await temporaryFolder(t));
    t.teardown(() => elsewhere.db.destroy());
    await sealAll(eventStore, { ...elsewhere, offer }, filled);
    t.deepEqual(new Set(statuses), new Set([200, 409]));
    const last = await lastCheckpoint(eventStore);
    t.deepEqual(
      saved.get('ledger.example/log')?.split('\n').slice(0, 3),
      last?.checkpoint.note.split('\n').slice(0, 3),
    );
    t.is(
      (await witnesses(eventStore, 1)).violations.find(({ kind }) => kind === 'witnesses'),
      undefined,
    );
    // What came while nobody asked the witness is proven from what it signed last.
    const middle = saved.get('ledger.example/log') ?? '';
    await append(eventStore, paymentId(50), [paymentRequested()]);
    await sealAll(eventStore, elsewhere, filled + 1);
    await append(eventStore, paymentId(51), [paymentRequested()]);
    statuses.length = 0;
    await sealAll(eventStore, { ...elsewhere, offer }, filled + 2);
    t.deepEqual(statuses, [409, 200]);
    t.not(saved.get('ledger.example/log'), middle);
    // The genuine key, stolen, signs another history.
    const { eventStore: forged } = await tampered(t, file, (sqlite) => {
      raised(sqlite);
      unsealed(sqlite);
    });
    const thief = sealing((await createDatabase()).url, await temporaryFolder(t));
    t.teardown(() => thief.db.destroy());
    statuses.length = 0;
    await sealAll(forged, { ...thief, offer }, filled);
    t.false(statuses.includes(200));
    t.regex(
      (await witnesses(forged, 1)).violations.find(({ kind }) => kind === 'witnesses')?.first ?? '',
      /^Of 1 witnesses 1 must have signed the last seal, and these have: none$/,
    );
  },
);

test.serial('a witness answers as the specification says', async (t) => {
  const name = 'ledger.example/log';
  const saved = new Map<string, string>();
  const next = sealKeyOf('7d1e'.repeat(16));
  const witness = createWitness({
    name: 'witness.example/1',
    key: otherKey,
    logs: [key, next].map(({ publicKey }) => ({ kind: 'log', name, publicKey: rawKeyOf(publicKey) })),
    kept: {
      load: async (origin) => saved.get(origin) ?? null,
      save: async (origin, note) => void saved.set(origin, note),
    },
    now: () => new Date('2026-11-20T02:00:00.000Z'),
  });
  const tree = growTree();
  const heads = [1, 2, 3].map((size) => {
    tree.add(leafHash(Buffer.from(String(size))));
    return { origin: name, size, root: tree.root() };
  });
  const noteOf = (head: (typeof heads)[number], signer = key) => {
    const body = checkpointText(head);
    return `${body}\n${signatureLine(body, head.origin, signer)}`;
  };
  const [one, two, three] = heads as [(typeof heads)[number], (typeof heads)[number], (typeof heads)[number]];
  const second = leafHash(Buffer.from('2')).toString('base64');
  t.is((await witness('nonsense')).status, 400);
  t.is((await witness(`old 01\n\n${noteOf(one)}`)).status, 400);
  t.is((await witness(`old 0\n\n${noteOf({ ...one, origin: 'other' })}`)).status, 404);
  t.is((await witness(`old 0\n\n${noteOf(one, otherKey)}`)).status, 403);
  t.is((await witness(`old 2\n\n${noteOf(one)}`)).status, 400);
  t.is((await witness(`old 0\n${second}\n\n${noteOf(one)}`)).status, 422);
  const answers = await Promise.all([witness(`old 0\n\n${noteOf(one)}`), witness(`old 0\n\n${noteOf(two)}`)]);
  t.is(answers[0]?.status, 200);
  t.deepEqual(answers[1], { status: 409, type: 'text/x.tlog.size', text: '1\n' });
  t.is((await witness(`old 1\n\n${noteOf({ ...one, root: two.root })}`)).status, 409);
  t.is((await witness(`old 1\n\n${noteOf(two)}`)).status, 422);
  t.is((await witness(`old 1\n${second}\n\n${noteOf({ ...two, root: three.root })}`)).status, 422);
  t.is((await witness(`old 1\n${second}\n\n${noteOf(two)}`)).status, 200);
  t.is((await witness(`old 2\n\n${noteOf(two)}`)).status, 200, 'the same again');
  t.is((await witness(`old 2\n\n${noteOf(two, next)}`)).status, 200, 'by the next key');
  t.is((await witness(`old 2\n\n${noteOf(two)}`)).status, 403, 'the key before has handed over');
});
