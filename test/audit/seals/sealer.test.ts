// The sealer: one chain of seals over everything, whoever runs it, whenever it is killed.
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectEventStore } from '@ledger/event-store/client.ts';
import { type EventStore, EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { forAll, isSigned, publicKeysIn, sealKeyOf, termText } from '@ledger/transparency-log/key.ts';
import {
  checkpointText,
  openCheckpoint,
  parseCheckpoint,
  parseNote,
  rawKeyOf,
  signatureLine,
} from '@ledger/transparency-log/note.ts';
import { type Offer, offerTo } from '@ledger/transparency-log/offer-to-witnesses.ts';
import { growTree, leafHash } from '@ledger/transparency-log/tree.ts';
import { createWitness } from '@ledger/transparency-log/witness.ts';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { pino } from 'pino';
import { keptCheckpoints } from '../../../src/audit/seals/kept-checkpoints.ts';
import { startSealer } from '../../../src/audit/seals/sealer.ts';
import { sealingRefused } from '../../../src/audit/seals/sealing-status.ts';
import { readSignedSeal } from '../../../src/audit/seals/stored-seals.ts';
import type { SealKeys } from '../../../src/audit/seals/succession.ts';
import { verifySeals } from '../../../src/audit/verify/seals.ts';
import { createViolations } from '../../../src/audit/verify/violations.ts';
import { assertKey } from '../../../src/commands/key-fingerprint.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import {
  countIn,
  emptyTally,
  leafEntry,
  leafOf,
  readSeal,
  sealsStream,
  signedText,
} from '../../../src/events/seals.ts';
import { until } from '../../embedded/helpers.ts';
import {
  append,
  end,
  log,
  methodChosen,
  paymentRequested,
  type RunningStore,
  startStore,
  startStoreProcess,
} from '../../projections/helpers.ts';
import { testRuntime } from '../../support/runtime.ts';
import { freshSealing } from '../fresh-sealing.ts';
import { key, otherKey, paymentId, verdictOn } from '../ledger.ts';

const third = sealKeyOf('7d1e'.repeat(16));

type Logged = { level: number; msg: string; reason?: string; isHandedOver?: boolean };

/** A sealer in this process, and what it logs. */
async function runSealer(
  t: ExecutionContext,
  eventStore: EventStore,
  options: {
    everyEvents?: number;
    everyMs?: number;
    signer?: typeof key;
    keys?: SealKeys;
    place?: Awaited<ReturnType<typeof freshSealing>>;
    offer?: Offer;
  } = {},
) {
  const { everyEvents = 3, everyMs = 3_600_000, signer = key } = options;
  const { keys = { current: signer, previous: null } } = options;
  const place = options.place ?? (await freshSealing(t));
  const logged: Logged[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const sealer = startSealer({
    ...place,
    eventStore,
    keys: () => keys,
    runtime: testRuntime({ now: () => new Date('2026-11-20T02:00:00.000Z') }),
    log,
    pace: { everyEvents, everyMs },
    ...(options.offer && { offer: options.offer }),
  });
  t.teardown(() => sealer.stop());
  return { ...sealer, logged, place };
}

async function addPayments(eventStore: EventStore, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number += 1)
    await append(eventStore, paymentId(number), [paymentRequested()]);
}

async function sealed(eventStore: EventStore): Promise<number[]> {
  return (await eventStore.load(sealsStream)).map((stored) => readSignedSeal(stored)?.count ?? -1);
}

async function sealedUpTo(eventStore: EventStore, count: number): Promise<void> {
  await until(async () => (await sealed(eventStore)).at(-1) === count);
}

/** Runs a sealer until it has sealed so many events; resolves to what it logged. */
async function sealUpTo(
  t: ExecutionContext,
  eventStore: EventStore,
  count: number,
  options?: Parameters<typeof runSealer>[2],
): Promise<Logged[]> {
  const { logged, stop } = await runSealer(t, eventStore, options);
  await sealedUpTo(eventStore, count);
  await stop();
  return logged;
}

/** Every payment here has its own chain, so that any violation is the seals'. */
async function checkSeals(
  t: ExecutionContext,
  { eventStore }: Pick<RunningStore, 'eventStore'>,
  events: number,
) {
  const { found, result } = await verdictOn(eventStore);
  t.deepEqual(found, []);
  t.is(result.events, events);
  t.is(result.seals.unsealed().events, 0);
}

test.serial(
  'seals are made after a number of events and at the end of the log, and not without new events',
  async (t) => {
    const store = await startStore(t);
    await addPayments(store.eventStore, 1, 8);
    const first = await runSealer(t, store.eventStore);
    await sealedUpTo(store.eventStore, 8);
    t.deepEqual(await sealed(store.eventStore), [3, 6, 8]);
    await addPayments(store.eventStore, 9, 11);
    await sealedUpTo(store.eventStore, 11);
    await first.stop();
    const again = await runSealer(t, store.eventStore);
    await addPayments(store.eventStore, 12, 14);
    await sealedUpTo(store.eventStore, 14);
    await again.stop();
    t.deepEqual(await sealed(store.eventStore), [3, 6, 8, 11, 14]);
    await checkSeals(t, store, 14);
  },
);

test.serial('a few events are sealed after the interval', async (t) => {
  const store = await startStore(t);
  await runSealer(t, store.eventStore, { everyEvents: 1000, everyMs: 20 });
  await addPayments(store.eventStore, 1, 1);
  await sealedUpTo(store.eventStore, 1);
  await checkSeals(t, store, 1);
});

test.serial('a seal says what was sealed, where and by whom', async (t) => {
  const { eventStore } = await startStore(t);
  await append(eventStore, paymentId(1), [paymentRequested(), methodChosen()]);
  await runSealer(t, eventStore);
  await sealedUpTo(eventStore, 2);
  const [stored] = await eventStore.load(sealsStream);
  const events = await eventStore.load(paymentStream(paymentId(1)));
  t.like(stored?.data, {
    at: '2026-11-20T02:00:00.000Z',
    lastEvent: { stream: paymentStream(paymentId(1)), revision: 1, id: events[1]?.id },
    publicKey: key.publicKey,
  });
  t.like(stored?.metadata, { actor: 'sealer' });
  const tree = growTree();
  for (const event of events) tree.add(leafHash(leafEntry(leafOf(event))));
  const note = parseNote(stored ? (stored.data as { checkpoint: string }).checkpoint : '');
  t.deepEqual(note && parseCheckpoint(note.text), {
    origin: 'ledger.example/log',
    size: 2,
    root: tree.root(),
  });
});

test.serial('two sealers that both lead make one chain of seals', async (t) => {
  const store = await startStore(t);
  const sealers = [
    await runSealer(t, store.eventStore, { everyEvents: 1, everyMs: 5 }),
    await runSealer(t, store.eventStore, { everyEvents: 1, everyMs: 5 }),
  ];
  await addPayments(store.eventStore, 1, 30);
  await sealedUpTo(store.eventStore, 30);
  for (const sealer of sealers) await sealer.stop();
  await checkSeals(t, store, 30);
});

test.serial(
  'a witness signs on after sealers that ended before they appended what it had signed',
  async (t) => {
    const { eventStore } = await startStore(t);
    const place = await freshSealing(t);
    let note = '';
    const witness = createWitness({
      name: 'witness.example/1',
      key: otherKey,
      logs: [{ kind: 'log', name: place.origin, publicKey: rawKeyOf(key.publicKey) }],
      kept: {
        load: async () => note || null,
        save: async (_, signed) => {
          note = signed;
        },
      },
      now: () => new Date('2026-11-20T02:00:00.000Z'),
    });
    const post = (async (_: unknown, { body }: RequestInit) => {
      const { status, text } = await witness(String(body));
      return new Response(text, { status });
    }) as typeof fetch;
    const offer = offerTo(['http://witness'], { post, runtime: systemRuntime, log });
    const witnessed = () => openCheckpoint(note, null);
    const lost: EventStore = {
      ...eventStore,
      append: async () => {
        throw new EventStoreUnavailable('The process ends before it appends the seal');
      },
    };
    // The first has sealed nothing before, the second begins at a seal.
    for (const count of [3, 10]) {
      await addPayments(eventStore, count - 2, count);
      const ended = await runSealer(t, lost, { everyEvents: 1_000, place, offer });
      await until(async () => Reflect.get(Object(witnessed()), 'size') === count);
      await ended.stop();
      await addPayments(eventStore, count + 1, count + 4);
      const logged = await sealUpTo(t, eventStore, count + 4, { everyEvents: 1_000, place, offer });
      t.like(witnessed(), { size: count + 4 });
      t.deepEqual(logged, []);
    }
  },
);

test.serial('a sealer that stops does not finish the proof that a witness has asked for', async (t) => {
  const { eventStore } = await startStore(t);
  const place = await freshSealing(t);
  await addPayments(eventStore, 1, 3);
  await sealUpTo(t, eventStore, 3, { place });
  await addPayments(eventStore, 4, 4);
  const asked = Promise.withResolvers<void>();
  const offer: Offer = async (_, prove) => {
    asked.resolve();
    await t.throwsAsync(prove(1), { name: 'AbortError' });
    return '';
  };
  let subscriptions = 0;
  async function* subscribe(options: Parameters<EventStore['subscribe']>[0]) {
    // The first is the sealer's own; the log that a proof reads never comes to an end.
    if (++subscriptions > 1) await systemRuntime.sleep(60_000, options.signal);
    yield* eventStore.subscribe(options);
  }
  const sealer = await runSealer(t, { ...eventStore, subscribe }, { everyEvents: 1_000, place, offer });
  await asked.promise;
  await sealer.stop();
  t.deepEqual(await sealed(eventStore), [3, 4]);
});

test.serial('a sealer that cannot read the log leaves it to another', async (t) => {
  const store = await startStore(t);
  const place = await freshSealing(t);
  const away = connectEventStore({ url: 'esdb://127.0.0.1:1?tls=false', log, runtime: systemRuntime });
  t.teardown(() => away.close());
  let leads = false;
  const subscribe: EventStore['subscribe'] = (options) => {
    leads = true;
    return away.subscribe(options);
  };
  await runSealer(t, { ...store.eventStore, subscribe }, { place });
  await until(() => leads);
  await runSealer(t, store.eventStore, { place });
  await addPayments(store.eventStore, 1, 3);
  await sealedUpTo(store.eventStore, 3);
  await checkSeals(t, store, 3);
});

test.serial(
  'after kill -9 of the sealer and of the event store, sealing continues from the last seal',
  async (t) => {
    t.timeout(60_000);
    const store = await startStoreProcess(t);
    const place = await freshSealing(t);
    const script = fileURLToPath(new URL('../sealer-child.ts', import.meta.url));
    const launch = () => {
      const child = fork(script, [store.url, place.databaseUrl, '2', place.folder]);
      t.teardown(() => end(child));
      return child;
    };
    for (let round = 0; round < 4; round += 1) {
      const child = launch();
      const before = (await sealed(store.eventStore)).length;
      const adding = addPayments(store.eventStore, round * 10 + 1, round * 10 + 10);
      await until(async () => (await sealed(store.eventStore)).length >= before + 2);
      if (round === 2) await store.kill();
      await end(child);
      await adding;
    }
    launch();
    await sealedUpTo(store.eventStore, 40);
    await checkSeals(t, store, 40);
  },
);

test('a log that does not agree with its last seal is not sealed, and an error is logged', async (t) => {
  const { eventStore } = await startStore(t);
  await addPayments(eventStore, 1, 3);
  await sealUpTo(t, eventStore, 3);
  // Sealed elsewhere: this log has other events than that seal counted.
  const other = await startStore(t);
  const [seal] = await eventStore.load(sealsStream);
  await eventStore.close();
  await addPayments(other.eventStore, 4, 8);
  if (seal) await other.eventStore.append(sealsStream, [seal], 'no_stream');
  const { logged, stop } = await runSealer(t, other.eventStore);
  await until(() => logged.length > 0);
  await stop();
  t.like(logged[0], {
    level: 50,
    reason: 'The log does not agree with seal 0',
    msg: 'the log is not sealed any more',
  });
  t.deepEqual(await sealed(other.eventStore), [3]);
});

test('a log that ends before its last seal is not sealed; once it is whole, nothing is refused', async (t) => {
  const { eventStore } = await startStore(t);
  await addPayments(eventStore, 1, 3);
  await sealUpTo(t, eventStore, 3);
  const [seal] = await eventStore.load(sealsStream);
  const payments = await Promise.all([1, 2, 3].map((no) => eventStore.load(paymentStream(paymentId(no)))));
  await eventStore.close();
  const other = await startStore(t);
  const copy = async ([event]: (typeof payments)[number]) =>
    event && (await other.eventStore.append(event.streamName, [event], 'no_stream'));
  for (const payment of payments.slice(0, 2)) await copy(payment);
  if (seal) await other.eventStore.append(sealsStream, [seal], 'no_stream');
  const place = await freshSealing(t);
  const { logged, stop } = await runSealer(t, other.eventStore, { place });
  await until(() => logged.length > 0);
  t.is(logged[0]?.reason, 'The log does not agree with seal 0');
  await until(() => sealingRefused(place.db));
  await stop();
  for (const payment of payments.slice(2)) await copy(payment);
  await runSealer(t, other.eventStore, { place });
  t.true(await until(async () => (await sealingRefused(place.db)) === null));
});

test.serial(
  'in a copy of the log with other positions, sealing continues and everything verifies',
  async (t) => {
    const { eventStore } = await startStore(t);
    await addPayments(eventStore, 1, 8);
    await sealUpTo(t, eventStore, 8);
    const payments = await Promise.all(
      Array.from({ length: 8 }, (_, index) => eventStore.load(paymentStream(paymentId(index + 1)))),
    );
    const seals = await eventStore.load(sealsStream);
    await eventStore.close();
    const copy = await startStore(t);
    await copy.eventStore.append('of-others-1', payments[0] ?? [], 'no_stream');
    for (const [event] of payments)
      if (event) await copy.eventStore.append(event.streamName, [event], 'no_stream');
    await copy.eventStore.append(sealsStream, seals, 'no_stream');
    await addPayments(copy.eventStore, 9, 10);
    await sealUpTo(t, copy.eventStore, 10);
    await checkSeals(t, copy, 10);
  },
);

test.serial('while it runs, a key hands over to the next, and each counts only in its time', async (t) => {
  const { eventStore } = await startStore(t);
  const place = await freshSealing(t);
  await addPayments(eventStore, 1, 4);
  const keys: SealKeys = { current: key, previous: null };
  const { logged } = await runSealer(t, eventStore, { place, keys });
  await sealedUpTo(eventStore, 4);
  Object.assign(keys, { current: otherKey, previous: key });
  await addPayments(eventStore, 5, 8);
  await until(async () => ((await sealed(eventStore)).at(-1) ?? 0) >= 7);
  t.like(logged, [{ level: 40, msg: 'another key seals from now on', isHandedOver: true }]);
  for (const trusted of [key, otherKey])
    t.deepEqual(
      (await verdictOn(eventStore, [forAll(trusted.publicKey)])).found,
      [],
      'one vouches for the other',
    );
  t.regex(
    (await verdictOn(eventStore, [forAll(third.publicKey)])).first('keys of seals') ?? '',
    /^Seal 0 was signed with a key that is not trusted$/,
  );

  const { keys: found } = await verifySeals(eventStore, [forAll(key.publicKey)], createViolations());
  const periods = found ?? [];
  const terms = [
    { publicKey: key.publicKey, from: 0, to: 4 },
    { publicKey: otherKey.publicKey, from: 5, to: Infinity },
  ];
  t.like(periods, terms);
  t.deepEqual(publicKeysIn(periods.map(termText).join('\n')), terms);
  t.deepEqual((await verdictOn(eventStore, terms)).found, []);
  const notes = (await eventStore.load(sealsStream)).map(({ data }) => Object(data).checkpoint);
  t.like(openCheckpoint(notes[1], terms), { size: 4 });
  t.like(openCheckpoint(notes[2], terms), { size: 7 });
  const late = checkpointText({ origin: 'o', size: 9, root: Buffer.alloc(32) });
  t.is(
    openCheckpoint(`${late}\n${signatureLine(late, 'o', key)}`, terms),
    'The checkpoint was not signed with a trusted key',
  );
});

test('a change of keys without a hand-over is refused, unless staff say that the key is lost', async (t) => {
  const { eventStore } = await startStore(t);
  const place = await freshSealing(t);
  await addPayments(eventStore, 1, 4);
  await sealUpTo(t, eventStore, 4, { place });
  await addPayments(eventStore, 5, 5);
  const reasonWith = async (keys: SealKeys) => {
    const { logged, stop } = await runSealer(t, eventStore, { place, keys });
    await until(() => logged.length > 0);
    await stop();
    t.is(await sealingRefused(place.db), logged[0]?.reason ?? '');
    return logged[0]?.reason;
  };
  const missing = 'Seal 1 was signed with another key than SEAL_KEY, and SEAL_KEY_PREVIOUS is not that key';
  t.is(await reasonWith({ current: otherKey, previous: null }), missing);
  t.is(await reasonWith({ current: otherKey, previous: third }), missing);
  const lost = { name: 'SEAL_KEY', key: otherKey.publicKey, others: null };
  const { signal } = new AbortController();
  await assertKey(lost, { eventStore, runtime: testRuntime(), signal });
  const logged = await sealUpTo(t, eventStore, 6, { place, signer: otherKey });
  t.like(logged, [{ msg: 'another key seals from now on', isHandedOver: false }]);
  t.is(
    await reasonWith({ current: third, previous: null }),
    missing.replace('1', '2'),
    'they named the other',
  );
  t.regex(
    (await verdictOn(eventStore)).first('keys of seals') ?? '',
    /^Seal 2 was signed with another key, to which the key before did not hand over$/,
  );
  const both = [key, otherKey].map(({ publicKey }) => forAll(publicKey));
  t.deepEqual((await verdictOn(eventStore, both)).found, []);
  t.is(
    await reasonWith({ current: key, previous: otherKey }),
    'SEAL_KEY has handed over to another key and must not sign again',
  );
});

for (const name of ['CheckpointSigned', 'CheckpointSigned.hand-over'])
  test.serial(`an old checkpoint stays valid: leaf, root and signatures never change (${name})`, (t) => {
    const golden = (type: string) =>
      JSON.parse(readFileSync(new URL(`../../events/golden/v2/${type}.json`, import.meta.url), 'utf8'));
    const stored = { ...golden(name), streamName: sealsStream, revision: 0 };
    const seal = readSignedSeal(stored);
    const { stream, revision, id } = stored.data.lastEvent;
    const leaf = leafOf({ streamName: stream, revision, id, ...golden('PaymentRequested') });
    t.is(leaf[1], '2026-11-20T01:00:00.000Z council');
    const handedOverBy = stored.data.handOver?.publicKey ?? null;
    t.like(seal, { handedOverBy, count: 1, hash: leafHash(leafEntry(leaf)).toString('hex') });
    for (const [field, value] of Object.entries(stored.data))
      if (field !== 'signature')
        t.is(readSignedSeal({ ...stored, data: { ...stored.data, [field]: otherThan(value) } }), null, field);
  });

test('after the seals and the tables are lost, the log must still agree with the file', async (t) => {
  const store = await startStore(t);
  const place = await freshSealing(t);
  await addPayments(store.eventStore, 1, 4);
  await sealUpTo(t, store.eventStore, 4, { place });
  const lost = {
    ...(await freshSealing(t)),
    kept: keptCheckpoints(place.db, join(place.folder, 'last-checkpoint')),
  };
  const kept = {
    ...lost.kept,
    load: async () => (await lost.kept.load()).filter(({ name }) => name.includes(place.folder)),
  };
  const same = await startStore(t);
  for (let number = 1; number <= 4; number += 1)
    await same.eventStore.append(
      paymentStream(paymentId(number)),
      await store.eventStore.load(paymentStream(paymentId(number))),
      'no_stream',
    );
  await addPayments(same.eventStore, 5, 5);
  await sealUpTo(t, same.eventStore, 5, { place: { ...lost, kept } });
  const other = await startStore(t);
  await addPayments(other.eventStore, 1, 6);
  const refused = await runSealer(t, other.eventStore, { place: { ...lost, kept } });
  const reason = `The log does not agree with the checkpoint kept in ${join(place.folder, 'last-checkpoint')}`;
  await until(async () => (await sealingRefused(place.db)) === reason);
  t.like(refused.logged.at(-1), { level: 50, reason, msg: 'the log is not sealed any more' });
  await refused.stop();
  t.deepEqual(await sealed(other.eventStore), []);
  // Nor is a log whose own seals go further than the file.
  await addPayments(other.eventStore, 7, 9);
  await sealUpTo(t, other.eventStore, 9);
  const refusedAgain = await runSealer(t, other.eventStore, { place: { ...lost, kept } });
  await until(() => refusedAgain.logged.length > 0);
  t.is(refusedAgain.logged[0]?.reason, reason);
  await refusedAgain.stop();
  await writeFile(join(place.folder, 'last-checkpoint'), 'nonsense');
  const unreadable = await runSealer(t, same.eventStore, { place: { ...lost, kept } });
  await until(() => unreadable.logged.some(({ reason }) => reason?.startsWith('It cannot be read: ')));
});

const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 });
const counted = fc.record({
  streamName: fc.constantFrom('payment-A', 'payment-B', 'user-A'),
  revision: fc.nat(5),
  id: fc.uuid(),
  type: fc.constantFrom('A', 'B'),
  data: fc.jsonValue(),
  metadata: fc.oneof(fc.record({ hash: hex }), fc.constant({}), fc.constant(null)),
});

test.serial(
  'a sealer that stood still does not take back the checkpoint that another one has kept',
  async (t) => {
    const { db, kept, folder } = await freshSealing(t);
    await kept.createTable();
    const noteOf = (size: number) => {
      const text = checkpointText({ origin: 'ledger.example/log', size, root: Buffer.alloc(32) });
      return `${text}\n${signatureLine(text, 'ledger.example/log', key)}`;
    };
    await kept.keep(noteOf(9));
    await kept.keep(noteOf(100));
    await keptCheckpoints(db, join(folder, 'of-another-machine')).keep(noteOf(11));
    t.deepEqual(
      (await kept.load()).map(({ size }) => size),
      [100, 100],
    );
  },
);

test.serial('the running hash depends on every event and on their order', (t) => {
  const hashOf = (events: readonly Parameters<typeof countIn>[1][]) =>
    events.reduce(countIn, emptyTally).runningHash;
  fc.assert(
    fc.property(
      fc.uniqueArray(counted, { minLength: 2, maxLength: 8, selector: ({ id }) => id }),
      fc.nat(),
      (events, at) => {
        const index = at % events.length;
        const whole = hashOf(events);
        const event = events[index];
        if (!event) return false;
        const changes = [
          { revision: event.revision + 1 },
          { streamName: `${event.streamName}x` },
          { id: `${event.id.slice(0, -1)}${event.id.endsWith('0') ? '1' : '0'}` },
          { metadata: { hash: 'another' } },
        ];
        return (
          hashOf([...events]) === whole &&
          hashOf(events.toSpliced(index, 1)) !== whole &&
          hashOf(events.toReversed()) !== whole &&
          hashOf([...events, event]) !== whole &&
          changes.every(
            (change) =>
              hashOf([...events.slice(0, index), { ...event, ...change }, ...events.slice(index + 1)]) !==
              whole,
          )
        );
      },
    ),
  );
  t.pass();
});

test.serial('an event without a hash counts by its content', (t) => {
  const event = { streamName: 'payment-A', revision: 0, id: 'X', type: 'A', metadata: {} };
  const hashes = [{ a: 1 }, { a: 2 }, null].map(
    (data) => countIn(emptyTally, { ...event, data }).runningHash,
  );
  t.is(new Set(hashes).size, 3);
});

test.serial('an old seal stays valid: what is signed and counted never changes', (t) => {
  const golden = (type: string) =>
    JSON.parse(readFileSync(new URL(`../../events/golden/v1/${type}.json`, import.meta.url), 'utf8'));
  const { type, data: seal } = readSeal(golden('LogSealed'));
  if (type !== 'LogSealed') return t.fail();
  const { stream, revision, id } = seal.lastEvent;
  t.true(isSigned(seal, signedText(seal)));
  for (const [field, value] of Object.entries(seal))
    if (field !== 'signature') {
      const other = { ...seal, [field]: otherThan(value) };
      t.false(isSigned(other, signedText(other)), field);
    }
  const counted = countIn(emptyTally, { streamName: stream, revision, id, ...golden('PaymentRequested') });
  t.is(counted.runningHash, seal.runningHash);
});

function otherThan(value: unknown): unknown {
  if (typeof value === 'string') return `${value}0`;
  if (typeof value === 'number') return value + 1;
  return Array.isArray(value) ? [...value, 'other-'] : { ...(value as object), more: '1' };
}

test.serial('a key is 32 bytes; its signature is Ed25519’s', (t) => {
  // RFC 8032, section 7.1, test 1.
  const known = sealKeyOf('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60');
  t.is(
    Buffer.from(known.sign(''), 'base64').toString('hex'),
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  );
  t.is(
    Buffer.from(known.publicKey, 'base64').subarray(-32).toString('hex'),
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
  );
});
