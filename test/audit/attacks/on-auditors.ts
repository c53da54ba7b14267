// Attacks on those who keep checkpoints elsewhere: auditors and witnesses.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { forAll, sealKeyOf } from '@ledger/transparency-log/key.ts';
import { checkpointText, openCheckpoint, rawKeyOf, signatureLine } from '@ledger/transparency-log/note.ts';
import { type Offer, offerTo } from '@ledger/transparency-log/offer-to-witnesses.ts';
import { growTree, leafHash } from '@ledger/transparency-log/tree.ts';
import { createWitness } from '@ledger/transparency-log/witness.ts';
import test from 'ava';
import { lastCheckpoint } from '../../../src/audit/seals/find-seals.ts';
import { startSealer } from '../../../src/audit/seals/sealer.ts';
import { verify } from '../../../src/audit/verify/verify.ts';
import { sealsStream } from '../../../src/events/seals.ts';
import { until } from '../../embedded/helpers.ts';
import { append, log, methodChosen, paymentRequested } from '../../projections/helpers.ts';
import { freshSealing } from '../fresh-sealing.ts';
import { filled, hastyRuntime, key, otherKey, paymentId, sealAll, tampered } from '../ledger.ts';
import { remove } from '../tamper.ts';
import { db, file, personalData, place, raised, signal, withStolenKey } from './ledger.ts';

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
    const { violations } = await verify({ ...given, since: checkpoint, runtime: hastyRuntime }, () => {});
    t.regex(
      violations[0]?.first ?? '',
      /does not lead to the checkpoint of 45 events, or no seal covers that yet/,
    );
  },
);

test.serial('the last event of the seal that an auditor kept is removed: verify finds it', async (t) => {
  const untouched = await tampered(t, file, () => {});
  const kept = await lastCheckpoint(untouched.eventStore);
  const { stream = '', revision = 0 } = kept?.lastEvent ?? {};
  const { eventStore } = await tampered(t, file, remove(stream, revision));
  const given = { eventStore, db, databaseUrl: place.databaseUrl, personalData, log, signal };
  const trusted = [forAll(key.publicKey)];
  const since = kept?.checkpoint ?? null;
  const { violations } = await verify({ ...given, trusted, since, runtime: hastyRuntime }, () => {});
  t.regex(violations.find(({ kind }) => kind === 'the log')?.first ?? '', /the checkpoint of 45 events/);
  t.regex(
    violations.find(({ kind }) => kind === 'what was sealed')?.first ?? '',
    new RegExp(
      `^${stream} revision ${revision}, the last event of seal \\d+ .* is not at its place in the log$`,
    ),
  );
});

test.serial(
  'a checkpoint that a witness has signed, and whose seal was never appended, is no violation',
  async (t) => {
    const { eventStore } = await tampered(t, file, () => {});
    const own = await freshSealing(t);
    // The process ends after the witness has signed, and before it appends the seal.
    let signed = '';
    const offer: Offer = async (note) => {
      signed = note;
      throw new Error('The process ended');
    };
    await append(eventStore, paymentId(20), [paymentRequested(), methodChosen()]);
    const keys = () => ({ current: key, previous: null });
    const sealer = startSealer({ ...own, offer, eventStore, keys, runtime: systemRuntime, log });
    await until(() => signed !== '');
    await sealer.stop();
    const since = openCheckpoint(signed, null);
    if (typeof since === 'string') return t.fail(since);
    await append(eventStore, paymentId(21), [paymentRequested(), methodChosen(), methodChosen(2)]);
    await sealAll(eventStore, own, filled + 5);
    const verdictOn = async (checkpoint: typeof since) => {
      const trusted = [forAll(key.publicKey)];
      const given = { eventStore, db: own.db, databaseUrl: own.databaseUrl, trusted, log, signal };
      const dependencies = { ...given, personalData: null, since: checkpoint, runtime: hastyRuntime };
      const { checked, violations } = await verify(dependencies, () => {});
      const [events] = checked;
      return { events: events?.count, first: violations.find(({ kind }) => kind === 'the log')?.first };
    };
    t.is(since.size, filled + 2);
    t.deepEqual(await verdictOn(since), { events: 5, first: undefined });
    const first = `It does not lead to the checkpoint of ${since.size} events, or no seal covers that yet`;
    t.deepEqual(await verdictOn({ ...since, root: Buffer.alloc(32) }), { events: 5, first });
  },
);

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
    const unsealed = remove(sealsStream);
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
          runtime: hastyRuntime,
        },
        () => {},
      );
    const { eventStore } = await tampered(t, file, unsealed);
    const elsewhere = await freshSealing(t);
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
    const thief = await freshSealing(t);
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
  let isDiskFull = false;
  const next = sealKeyOf('7d1e'.repeat(16));
  const witness = createWitness({
    name: 'witness.example/1',
    key: otherKey,
    logs: [key, next].map(({ publicKey }) => ({ kind: 'log', name, publicKey: rawKeyOf(publicKey) })),
    kept: {
      load: async (origin) => saved.get(origin) ?? null,
      async save(origin, note) {
        if (isDiskFull) throw new Error('no space left');
        saved.set(origin, note);
      },
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
  for (const lines of ['no hash', second.slice(4), `${second}\n`.repeat(64).trimEnd()])
    t.is((await witness(`old 0\n${lines}\n\n${noteOf(one)}`)).status, 400, lines);
  isDiskFull = true;
  await t.throwsAsync(witness(`old 0\n\n${noteOf(one)}`), { message: 'no space left' });
  isDiskFull = false;
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
  for (const damaged of ['', 'nonsense', noteOf(two).slice(0, 9)]) {
    saved.set(name, damaged);
    await t.throwsAsync(witness(`old 0\n\n${noteOf(one, next)}`), { message: /cannot be read/ });
  }
});
