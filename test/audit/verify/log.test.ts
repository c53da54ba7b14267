// Tampering with the log is found: which event, or between which events.
import { createHash, randomUUID } from 'node:crypto';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { forAll, type KeyTerm, publicKeysIn, sealKeyOf, termText } from '@ledger/transparency-log/key.ts';
import { checkpointText, signatureLine } from '@ledger/transparency-log/note.ts';
import test, { type ExecutionContext } from 'ava';
import { startSealer } from '../../../src/audit/seals/sealer.ts';
import { sealingRefused } from '../../../src/audit/seals/sealing-status.ts';
import { readSignedSeal } from '../../../src/audit/seals/stored-seals.ts';
import { acknowledge } from '../../../src/audit/verify/acknowledge.ts';
import { verifySeals } from '../../../src/audit/verify/seals.ts';
import { createViolations } from '../../../src/audit/verify/violations.ts';
import { acknowledgementsStream } from '../../../src/events/acknowledgements.ts';
import { chain, genesisHash, hashIn, type Metadata } from '../../../src/events/envelope.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import {
  type LogSealed,
  type LogSealedEvent,
  readSeal,
  sealsStream,
  signedText,
} from '../../../src/events/seals.ts';
import { temporaryFolder, until } from '../../embedded/helpers.ts';
import { append, log, methodChosen, paymentRequested } from '../../projections/helpers.ts';
import { createDatabase } from '../../support/postgres.ts';
import { freshSealing } from '../fresh-sealing.ts';
import {
  cause,
  everyEvents,
  fill,
  filled,
  key,
  openStore,
  otherKey,
  paymentId,
  pemOf,
  type Store,
  sealAll,
  sealByRunningHash,
  sealing,
  tampered,
  verdictOn,
} from '../ledger.ts';
import { changeEvent, forge, remove, replace, streamIn, withData } from '../tamper.ts';

let folder: string;
let file: string;
/** The same ledger, sealed by a release before the tree. */
let oldFile: string;
let stores: ReturnType<typeof sealing>;

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ledger-audit-'));
  file = join(folder, 'eventstore.db');
  oldFile = join(folder, 'old.db');
  stores = sealing((await createDatabase()).url, folder);
  const unsealed = await openStore(file);
  await fill(unsealed.eventStore);
  await unsealed.close();
  await copyFile(file, oldFile);
  const old = await openStore(oldFile);
  await sealByRunningHash(old.eventStore);
  await old.close();
  const { eventStore, close } = await openStore(file);
  await sealAll(eventStore, stores, filled);
  await close();
});
test.after.always(() => stores.db.destroy());
test.after.always(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));

const stream = paymentStream(paymentId(4));
function change(
  db: DatabaseSync,
  revision: number,
  work: (message: Buffer) => Uint8Array,
  name = stream,
): void {
  changeEvent(db, { stream: name, revision }, work);
}

const removeAndRenumber = (name: string, removed: number, later: readonly number[]) => (db: DatabaseSync) => {
  remove(name, removed)(db);
  for (const revision of later)
    change(
      db,
      revision,
      (message) => {
        const response = streams.ReadResp.deserializeBinary(message);
        const event = response.getEvent()?.getEvent();
        event?.setStreamRevision(String(revision - 1));
        return response.serializeBinary();
      },
      name,
    );
};

/** The verdict on the ledger after somebody has edited its file. */
const verdictAfter = async (t: ExecutionContext, edit: (db: DatabaseSync) => void) =>
  await verdictOn((await tampered(t, file, edit)).eventStore);

test('a ledger that nobody touched is whole, and all of it is sealed', async (t) => {
  const { found, result } = await verdictAfter(t, () => {});
  t.deepEqual(found, []);
  t.is(result.events, filled);
  t.is(result.streams, 12);
  t.is(result.seals.met(), 9);
  t.is(result.seals.unsealed().events, 0);
});

test('a byte changed in the file: of the data, of the metadata, of the JSON itself', async (t) => {
  for (const [from, to] of [
    ['"amountSen":12050', '"amountSen":12051'],
    ['"actor":"gateway"', '"actor":"someone"'],
    ['"previousHash":"0', '"previousHash":"1'],
    ['{"at"', '["at"'],
  ] as const) {
    const { first } = await verdictAfter(t, (db) => change(db, 0, replace(from, to)));
    t.regex(first('changed events') ?? '', new RegExp(`^${stream} revision 0 \\(PaymentRequested\\)`), from);
  }
});

test('a byte changed in the event’s id: the seal shows it', async (t) => {
  const { kinds, first } = await verdictAfter(t, (db) =>
    change(db, 2, (message) => {
      const id =
        streams.ReadResp.deserializeBinary(message).getEvent()?.getEvent()?.getId()?.getString() ?? '';
      return replace(id, `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`)(message);
    }),
  );
  t.deepEqual(kinds, ['what was sealed']);
  t.regex(first('what was sealed') ?? '', /some are not what was sealed/);
});

test('bytes that are no longer an event: the log is read up to them, and their place is reported', async (t) => {
  const { result, first } = await verdictAfter(t, (db) =>
    change(db, 1, (message) => message.fill(0xff, 0, 9)),
  );
  t.false(result.complete);
  t.true(result.events < filled);
  t.true(
    first('the log')?.includes(`after ${stream} revision 0 (PaymentRequested), at position `),
    first('the log'),
  );
});

test('an event removed from the middle of a stream', async (t) => {
  const { first } = await verdictAfter(t, remove(stream, 2));
  t.is(first('broken chains'), undefined, 'the next event says nothing more');
  t.is(
    first('missing events'),
    `Of ${stream} revision 2 is missing, before ${stream} revision 3 (CallbackDelivered)`,
  );
  t.regex(first('what was sealed') ?? '', /of the 5 events after .* 4 are there/);
});

test('an event removed and the later ones renumbered: the chain is broken', async (t) => {
  const { first } = await verdictAfter(t, removeAndRenumber(stream, 1, [2, 3]));
  t.is(first('missing events'), undefined);
  t.true(first('broken chains')?.startsWith(`${stream} revision 1 (PaymentSucceeded)`));
  const ofSeals = await verdictAfter(t, removeAndRenumber(sealsStream, 3, [4, 5, 6, 7, 8]));
  t.deepEqual(
    ofSeals.found.map((each) => each.first),
    ['Seal 3 is not what was signed, or does not follow the seal before it'],
  );
});

test('an event removed from the end of a stream: its chain is intact, and the seal shows it', async (t) => {
  const { kinds, first } = await verdictAfter(t, remove(stream, 3));
  t.deepEqual(kinds, ['what was sealed']);
  t.regex(
    first('what was sealed') ?? '',
    /of the 5 events after payment-\w+ revision \d up to payment-\w+ revision \d, 4 are there/,
  );
});

test('a whole stream removed: the seals show between which events it was, and nothing else is reported', async (t) => {
  const { found, kinds, result } = await verdictAfter(t, remove(stream));
  t.deepEqual(kinds, ['what was sealed']);
  t.true((found[0]?.count ?? 9) <= 3);
  t.true(result.seals.met() >= 7);
});

test('metadata that hide a stream from its readers, though the log has it; taken back, they hide nothing', async (t) => {
  const { eventStore } = await tampered(t, file, () => {});
  const name = paymentStream(paymentId(4));
  const metadata = (revision: number, data: object) => ({
    ...{ id: randomUUID(), type: '$metadata', data, metadata: undefined, created: new Date() },
    ...{ streamName: `$$${name}`, revision, position: { commit: 1n, prepare: 1n } },
  });
  const withMetadata = (...stored: readonly object[]): EventStore => ({
    ...eventStore,
    async *subscribe(options) {
      const isAskedFor = 'streamPrefixes' in options && options.streamPrefixes.includes('$$payment-');
      for await (const message of eventStore.subscribe(options)) {
        if (message.kind === 'caught_up' && isAskedFor)
          for (const [revision, data] of stored.entries())
            yield { kind: 'event', event: metadata(revision, data) };
        yield message;
      }
    },
  });
  const hidden = await verdictOn(withMetadata({ $tb: 4 }));
  t.deepEqual(hidden.found, [
    {
      ...{ kind: 'missing events', count: 1 },
      first: `The metadata of ${name} hide events of it, which only the log shows`,
    },
  ]);
  t.deepEqual((await verdictOn(withMetadata({ $tb: 4 }, { $acl: {} }))).found, []);
});

test('the end of the log removed: the seals show it', async (t) => {
  const { first } = await verdictAfter(t, (db) =>
    db.exec(`delete from events where position > ${filled - 8} and stream <> ${streamIn(sealsStream)}`),
  );
  t.regex(
    first('what was sealed') ?? '',
    /, the last event of seal \d of .*, is not at its place in the log/,
  );
});

test('two events of a stream swapped', async (t) => {
  const { first } = await verdictAfter(t, (db) => {
    let one: Buffer = Buffer.of();
    let other: Buffer = Buffer.of();
    change(db, 1, (message) => (one = Buffer.from(message)));
    change(db, 2, (message) => {
      other = Buffer.from(message);
      return one;
    });
    change(db, 1, () => other);
  });
  t.regex(first('missing events') ?? '', /revision 1 is missing/);
  t.is(first('misplaced events'), `${stream} revision 1 (PaymentMethodChosen) comes after revision 2`);
});

test('an event rewritten, with a new hash and a new chain after it: the seal shows it', async (t) => {
  const { kinds } = await verdictAfter(t, (db) => {
    let previousHash = genesisHash;
    for (const revision of [0, 1, 2, 3])
      change(db, revision, (message) => {
        const forged = forge(
          message,
          (data) => revision === 0 && Object.assign(data, { amountSen: 1 }),
          previousHash,
        );
        previousHash = forged.hash;
        return forged.message;
      });
  });
  t.deepEqual(kinds, ['what was sealed']);
});

test('an event rewritten in the middle, with a matching hash: the next one is not chained onto it', async (t) => {
  const { first } = await verdictAfter(t, (db) => change(db, 1, withData({ bankCode: 'X' })));
  t.true(first('broken chains')?.startsWith(`${stream} revision 2 (PaymentSucceeded)`));
});

test('an event of a type or a shape that this program does not know', async (t) => {
  const { first } = await verdictAfter(t, (db) => change(db, 0, withData({ amountSen: 'much' })));
  t.is(
    first('unreadable events'),
    `${stream} revision 0 (PaymentRequested) cannot be read: PaymentRequested does not fit its schema at amountSen`,
  );
});

test('an event inserted', async (t) => {
  const { first } = await verdictAfter(t, (db) => {
    const last = db
      .prepare(`select * from events where stream = ${streamIn(stream)} and revision = 3`)
      .get() as {
      position: number;
    };
    // Makes room: everything after it moves on by one.
    db.exec(`update events set position = position + 1000000 where position > ${last.position}`);
    db.exec(
      `insert into events select position + 1, stream, 4, id, type, message from events where position = ${last.position}`,
    );
    change(db, 4, (message) => {
      const response = streams.ReadResp.deserializeBinary(message);
      const event = response.getEvent()?.getEvent();
      event?.setStreamRevision('4');
      event?.getId()?.setString(randomUUID());
      return response.serializeBinary();
    });
  });
  t.true(first('broken chains')?.startsWith(`${stream} revision 4 (CallbackDelivered)`));
  t.regex(first('what was sealed') ?? '', /of the 5 events .*, 6 are there/);
});

test('seals: changed, removed, all removed', async (t) => {
  const changed = await tampered(t, file, (db) =>
    change(db, 3, replace('\\n20\\n', '\\n21\\n'), sealsStream),
  );
  const { found, first } = await verdictOn(changed.eventStore);
  t.true(first('seals')?.startsWith('Seal 3 '));
  t.is(found.length, 1, 'the next seal covers what this one did');
  await changed.close();
  for (const sealed of [file, oldFile]) {
    const removed = await tampered(t, sealed, remove(sealsStream, 3));
    const sentences = (await verdictOn(removed.eventStore)).found.map((each) => each.first);
    t.deepEqual(sentences, ['Seal 3 is missing'], 'and nothing of the next one');
    await removed.close();
  }
  const none = await tampered(t, file, remove(sealsStream));
  const { result } = await verdictOn(none.eventStore);
  t.is(result.seals.met(), 0);
  t.is(result.seals.unsealed().events, filled);
});

test('seals of releases before the tree still verify, find what is missing, and lead over to checkpoints', async (t) => {
  const cut = await tampered(t, oldFile, remove(stream, 3));
  const missing = async () => (await verdictOn(cut.eventStore)).first('what was sealed') ?? '';
  t.regex(await missing(), /counted: 44 of 45 events are there$/);
  const newer = await freshSealing(t);
  const keys = () => ({ current: key, previous: null });
  const sealer = startSealer({ ...newer, eventStore: cut.eventStore, keys, runtime: systemRuntime, log });
  const refused = await until(async () => (await sealingRefused(newer.db)) ?? false);
  await sealer.stop();
  t.is(refused, 'The log does not agree with seal 8', 'no checkpoint is signed of it');
  await cut.close();
  const { eventStore } = await tampered(t, oldFile, () => {});
  t.deepEqual((await verdictOn(eventStore)).found, []);
  const place = await freshSealing(t);
  await sealAll(eventStore, place, filled);
  const { found, result } = await verdictOn(eventStore);
  t.deepEqual(found, []);
  t.is(result.seals.met(), 1 + filled / everyEvents);
  t.is(result.seals.unsealed().events, 0);
});

test('with few heads kept in memory, the others are read from the store', async (t) => {
  const { eventStore } = await tampered(t, file, () => {});
  // Its stream began long before those of other payments.
  const { length } = await eventStore.load(stream);
  await append(eventStore, paymentId(4), [methodChosen(9)], length - 1);
  const { found, result } = await verdictOn(eventStore, [forAll(key.publicKey)], { headsKept: 1 });
  t.deepEqual(found, []);
  t.is(result.streams, 12);
});

test('a seal whose bytes are no longer an event', async (t) => {
  const { eventStore } = await tampered(t, file, (db) =>
    change(db, 3, (message) => message.fill(0xff, 0, 9), sealsStream),
  );
  t.regex((await verdictOn(eventStore)).first('seals') ?? '', /^Not all seals can be read: /);
});

/** Appends a seal with the changes, signed with the key. */
async function forgeSeal(
  eventStore: EventStore,
  signer: typeof key,
  change: Partial<LogSealed>,
  before: typeof key | null = null,
  noteSigner = signer,
): Promise<void> {
  const last = await eventStore.loadLast(sealsStream);
  if (!last) throw new Error('no seal');
  const { hash } = last.metadata as Metadata;
  const { type, data: said } = readSeal(last);
  const { handOver: _, ...stored } = { handOver: null, ...said };
  const { count = 0, ...others } = change;
  const head = {
    origin: 'ledger.example/log',
    size: count,
    root: readSignedSeal(last)?.checkpoint?.root ?? Buffer.alloc(32),
  };
  const text = checkpointText(head);
  const content =
    type === 'LogSealed'
      ? { previousSeal: hash, ...change }
      : { checkpoint: `${text}\n${signatureLine(text, head.origin, noteSigner)}`, ...others };
  const unsigned = { ...stored, publicKey: signer.publicKey, ...content };
  const handOver = before && { publicKey: before.publicKey, signature: before.sign(signedText(unsigned)) };
  const forged = { ...unsigned, ...(handOver && { handOver }) };
  const data = { ...forged, signature: signer.sign(signedText(forged)) };
  const chained = chain([{ type, data } as LogSealedEvent], hash, cause());
  await eventStore.append(sealsStream, chained, last.revision);
}

test.serial(
  'forged seals: with another key, under the name of the right key, with a count that decreases',
  async (t) => {
    const previousSeal = createHash('sha256').digest('hex');
    for (const [from, change, signer, kind] of [
      [file, { count: filled + 1 }, otherKey, 'keys of seals'],
      [file, { count: filled + 1, publicKey: key.publicKey }, otherKey, 'seals'],
      [file, { count: filled }, key, 'the chain of seals'],
      [oldFile, { count: filled + 1 }, otherKey, 'keys of seals'],
      [oldFile, { count: filled + 1, publicKey: key.publicKey }, otherKey, 'seals'],
      [oldFile, { count: filled }, key, 'the chain of seals'],
      [oldFile, { count: filled + 1, previousSeal }, key, 'the chain of seals'],
    ] as const) {
      const { eventStore, close } = await tampered(t, from, () => {});
      await forgeSeal(eventStore, signer, change);
      t.true((await verdictOn(eventStore)).first(kind)?.startsWith('Seal 9 '), kind);
      await close();
    }
    // Nobody could check its checkpoint outside the log.
    const { eventStore } = await tampered(t, file, () => {});
    await forgeSeal(eventStore, key, { count: filled + 1 }, null, otherKey);
    t.regex((await verdictOn(eventStore)).first('seals') ?? '', /^Seal 9 is not what was signed/);
  },
);

test.serial('after a hand-over: the key before, and keys that nobody handed over to', async (t) => {
  const { eventStore } = await tampered(t, file, () => {});
  const sealedIn = await freshSealing(t);
  const unreadable = async (id: string) => {
    await append(eventStore, id, [{ type: 'PaymentForgotten', data: {} }]);
    const place = { stream: paymentStream(id), revision: 0 };
    await acknowledge({ eventStore, key }, { at: new Date(), place, reason: 'So says the key' }, cause());
  };
  await unreadable('EARLY');
  await append(eventStore, paymentId(99), [paymentRequested()]);
  await sealAll(eventStore, sealedIn, filled + 3, otherKey, key);
  t.deepEqual((await verdictOn(eventStore)).found, []);
  const thief = sealKeyOf('7d1e'.repeat(16));
  const forgeries = [
    [key, null, 'with a key that had handed over to another'],
    [thief, null, 'with another key, to which the key before did not hand over'],
    [thief, key, 'by a key that had handed over'],
    [thief, { ...thief, publicKey: otherKey.publicKey }, 'in the name of the key before'],
  ] as const;
  for (const [index, [signer, before, what]] of forgeries.entries()) {
    await forgeSeal(eventStore, signer, { count: filled + 3 }, before);
    const found = (await verdictOn(eventStore)).found.filter(({ kind }) => kind === 'keys of seals');
    t.like(found, [{ count: index + 1, first: `Seal 10 was signed ${forgeries[0][2]}` }], what);
  }

  await unreadable('LATE');
  t.regex(
    (await verdictOn(eventStore)).first('acknowledgements') ?? '',
    /is not what a trusted key has signed$/,
  );
});

test.serial(
  'a key that leaked hands over to nobody in the time of a key that the auditor knows',
  async (t) => {
    const { eventStore } = await tampered(t, file, () => {});
    const sealedIn = await freshSealing(t);
    const thief = sealKeyOf('7d1e'.repeat(16));
    await append(eventStore, paymentId(99), [paymentRequested()]);
    await sealAll(eventStore, sealedIn, filled + 1, thief, key);
    t.deepEqual((await verdictOn(eventStore)).found, [], 'with the first key alone nothing tells');
    const known = [
      { publicKey: key.publicKey, from: 0, to: filled },
      { publicKey: otherKey.publicKey, from: filled + 1, to: Infinity },
    ];
    t.regex(
      (await verdictOn(eventStore, known)).first('keys of seals') ?? '',
      /^Seal 9 was signed with another key, to which the key before did not hand over$/,
    );
  },
);

test('a key counts in the term that the auditor gives it, also where nobody handed over to it', async (t) => {
  const { eventStore } = await tampered(t, file, () => {});
  const firstOf = async (...known: KeyTerm[]) =>
    (await verdictOn(eventStore, known)).first('keys of seals') ?? 'nothing';
  const { publicKey } = key;
  t.is(await firstOf({ publicKey, from: 0, to: filled }), 'nothing');
  for (const term of [
    { from: 0, to: filled - 1 },
    { from: filled, to: Infinity },
  ])
    t.regex(await firstOf({ publicKey, ...term }), /was signed with a key whose time it was not$/);

  await forgeSeal(eventStore, otherKey, { count: filled + 1 });
  const next = { publicKey: otherKey.publicKey, from: filled + 1, to: Infinity };
  t.is(await firstOf({ publicKey, from: 0, to: filled }, next), 'nothing');
  t.regex(await firstOf(next), /^Seal 0 was signed with a key that is not trusted$/);
  const { keys } = await verifySeals(eventStore, [next], createViolations());
  t.deepEqual(
    keys?.map((each) => each.publicKey),
    [otherKey.publicKey],
  );
});

test('an event of which no text can be made is sealed and verified like any other', async (t) => {
  const { eventStore } = await tampered(t, file, () => {});
  await append(eventStore, paymentId(91), [{ type: 'PaymentRequested', data: { at: { toString: 1 } } }]);
  const sealedIn = await freshSealing(t);
  await sealAll(eventStore, sealedIn, filled + 1);
  const { kinds, result } = await verdictOn(eventStore);
  t.deepEqual(kinds, ['unreadable events']);
  t.is(result.seals.unsealed().events, 0);
});

test('an event with a time long before that of what was sealed before it is told, and where it is', async (t) => {
  const { eventStore } = await tampered(t, file, () => {});
  // More than an hour before the seals, but not before the events in them: a sealer may have been away.
  await append(eventStore, paymentId(90), [paymentRequested({ at: '2026-11-20T00:30:00.000Z' })]);
  t.deepEqual((await verdictOn(eventStore)).result.early, { count: 0, first: '' });
  for (const [id, at] of [
    [paymentId(92), '2026-10-20T01:00:00.000Z'],
    [paymentId(93), '2026-11-19T23:59:00.000Z'],
  ] as const)
    await append(eventStore, id, [paymentRequested({ at })]);
  const early = { count: 2, first: `${paymentStream(paymentId(92))} revision 0` };
  t.deepEqual((await verdictOn(eventStore)).result.early, early);
  // Also once they are sealed themselves.
  const sealedIn = await freshSealing(t);
  await sealAll(eventStore, sealedIn, filled + 3);
  t.deepEqual((await verdictOn(eventStore)).result.early, early);
});

test('a term counts however the file was saved, and is never left out', (t) => {
  const term = { publicKey: key.publicKey, from: 0, to: 9 };
  for (const between of ['\n', '\r\n', ' \r\n', '\n\n'])
    t.deepEqual(publicKeysIn(termText(term).replace('\n', between)), [term], JSON.stringify(between));
  for (const text of [` ${termText(term)}`, termText(term).replace('events', 'event')])
    t.throws(() => publicKeysIn(text), { message: 'A term must stand before its key' });
});

test('the auditor’s key decides, not the one that the seals name', async (t) => {
  const { eventStore } = await tampered(t, file, () => {});
  const kept = publicKeysIn(`${pemOf(otherKey)}\n${pemOf(key)}`);
  t.deepEqual((await verdictOn(eventStore, kept)).found, []);
  t.deepEqual((await verdictOn(eventStore, null)).found, []);
  const wrong = await verdictOn(eventStore, publicKeysIn(pemOf(otherKey)));
  t.is(wrong.first('keys of seals'), 'Seal 0 was signed with a key that is not trusted');
  t.is(wrong.result.seals.unsealed().events, filled);
  t.throws(() => publicKeysIn('no key'));
});

/** A copy of the ledger with an event that no program knows, which an administrator has acknowledged. */
async function acknowledged(t: ExecutionContext, signer = key): Promise<Store & { path: string }> {
  const path = join(await temporaryFolder(t), 'eventstore.db');
  await copyFile(file, path);
  const store = await openStore(path);
  t.teardown(store.close);
  const { eventStore } = store;
  const [last] = (await eventStore.load(stream)).slice(-1);
  const unknown = chain([{ type: 'PaymentForgotten', data: { at: 'now' } }], hashIn(last), cause());
  await eventStore.append(stream, unknown, last?.revision ?? 'no_stream');
  const said = await acknowledge(
    { eventStore, key: signer },
    {
      at: new Date('2026-11-20T01:00:00Z'),
      place: { stream, revision: 4 },
      reason: 'Written by a trial of version 9',
    },
    { ...cause(), actor: 'staff:aina' },
  );
  t.deepEqual(said, [
    `${stream} revision 4 (PaymentForgotten) cannot be read: Unknown event type PaymentForgotten`,
  ]);
  return { ...store, path };
}

test('a fault that was acknowledged is explained, and no violation', async (t) => {
  const { eventStore } = await acknowledged(t);
  const { explained, found } = await verdictOn(eventStore);
  t.deepEqual(found, []);
  t.deepEqual(explained, [
    `${stream} revision 4 (PaymentForgotten) cannot be read: Unknown event type PaymentForgotten. Explained by staff:aina on 2026-11-20T01:00:00.000Z: Written by a trial of version 9`,
  ]);
  const nothing = { place: { stream, revision: 1 }, reason: 'r', at: new Date() };
  t.deepEqual(await acknowledge({ eventStore, key }, nothing, cause()), []);
});

test('an acknowledgement that somebody forged, altered or moved does not count, and is a violation', async (t) => {
  const unreadable = 'unreadable events';
  const kindsIn = async (store: EventStore, trusted: readonly KeyTerm[] | null = [forAll(key.publicKey)]) =>
    (await verdictOn(store, trusted)).kinds.toSorted();

  const other = await acknowledged(t, otherKey);
  t.deepEqual(await kindsIn(other.eventStore), ['acknowledgements', unreadable], 'signed with another key');
  t.deepEqual(await kindsIn(other.eventStore, null), [unreadable], 'nobody says which key to trust');

  // It hides nothing, but the key that is trusted may explain it, and then the fault itself.
  const explain = (place: { stream: string; revision: number }, signer = key) =>
    acknowledge(
      { eventStore: other.eventStore, key: signer },
      { at: new Date(), place, reason: 'A key that was lost' },
      cause(),
    );
  const forgery = { stream: acknowledgementsStream, revision: 0 };
  await explain(forgery, { ...key, sign: otherKey.sign });
  t.deepEqual(await kindsIn(other.eventStore), ['acknowledgements', unreadable], 'explained by a forgery');
  t.deepEqual(await explain(forgery), [
    'verify-acknowledgements revision 0 (FaultAcknowledged) is not what a trusted key has signed',
  ]);
  t.deepEqual(await kindsIn(other.eventStore), ['acknowledgements', unreadable], 'the second one is left');
  await explain({ ...forgery, revision: 1 });
  t.deepEqual(await kindsIn(other.eventStore), [unreadable]);
  await explain({ stream, revision: 4 });
  t.deepEqual(await kindsIn(other.eventStore), []);
  t.is((await verdictOn(other.eventStore)).explained.length, 3);
  t.deepEqual(await explain({ ...forgery, revision: 2 }), [], 'a genuine one');

  const whole = await acknowledged(t);
  const [stored] = await whole.eventStore.load(acknowledgementsStream);
  const copied = chain(
    [{ type: 'FaultAcknowledged', data: { ...Object(stored?.data), revision: 3 } }],
    hashIn(stored),
    cause(),
  );
  await whole.eventStore.append(acknowledgementsStream, copied, 0);
  t.deepEqual(await kindsIn(whole.eventStore), ['acknowledgements'], 'said of another event');
  const moved = chain([{ type: 'FaultAcknowledged', data: stored?.data }], genesisHash, cause());
  await whole.eventStore.append(paymentStream(paymentId(99)), moved, 'no_stream');
  t.true((await kindsIn(whole.eventStore)).includes(unreadable), 'in another stream');
  await whole.close();

  // Whoever edits the file can make hashes fit, but not the signature.
  const edits: readonly (readonly [string, (message: Buffer) => Uint8Array, string, number])[] = [
    ['another reason', withData({ reason: 'None' }), acknowledgementsStream, 0],
    ['another person', withData({ by: 'staff:ali' }), acknowledgementsStream, 0],
    ['another event in that place', withData({ at: 'then' }), stream, 4],
  ];
  for (const [title, edit, name, revision] of edits) {
    const { close, path } = await acknowledged(t);
    await close();
    const { eventStore } = await tampered(t, path, (db) => change(db, revision, edit, name));
    t.deepEqual(await kindsIn(eventStore), ['acknowledgements', unreadable], title);
  }

  const { close, path } = await acknowledged(t);
  await close();
  const rewritten = await tampered(t, path, (db) => change(db, 3, withData({ at: 'then' }), stream));
  const kinds = await kindsIn(rewritten.eventStore);
  t.true(kinds.includes('acknowledgements') && kinds.includes(unreadable), 'another event before it');
});
