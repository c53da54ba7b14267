// Attacks on an export, and what still holds after an erasure.
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { isDestroyed, keyIn, readKeyId } from '@ledger/personal-data/key-store.ts';
import { forAll } from '@ledger/transparency-log/key.ts';
import { cosignatureLine, parseNote, rawKeyOf, signatureLine } from '@ledger/transparency-log/note.ts';
import test from 'ava';
import { checksumOf, createLines, firstChecksum, tailLength } from '../../../src/audit/export/lines.ts';
import { proveEvents } from '../../../src/audit/seals/leaves.ts';
import { readSignedSeal } from '../../../src/audit/seals/stored-seals.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { leafOf, sealsStream, signedText } from '../../../src/events/seals.ts';
import { createErase } from '../../../src/personal-data/erase.ts';
import { append, paymentRequested } from '../../projections/helpers.ts';
import { applied, chosen, payer, request, result } from '../../support/payments.ts';
import { freshSealing } from '../fresh-sealing.ts';
import { stored } from '../helpers.ts';
import { filled, key, otherKey, paymentId, sealAll, tampered, verdictOn } from '../ledger.ts';
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

test.serial('export with an event that is not sealed yet: what is proven does not reach to it', async (t) => {
  const { eventStore } = await tampered(t, file, () => {});
  const id = paymentId(92);
  await append(eventStore, id, [paymentRequested({ at: '2026-11-20T15:00:00.000Z' })]);
  const line = JSON.parse(createLines().payment(await eventStore.load(paymentStream(id))));
  const content = relined(exported, (lines) => {
    const tree = lines.findIndex((each) => 'tree' in each);
    const { events, payments } = Object(lines.at(-1)?.end);
    const end = { events: events + 1, payments: payments + 1 };
    return [...lines.slice(0, tree), line, ...lines.slice(tree, -1), { end }];
  });
  const { lastRequest } = await verified(t, exported);
  t.true(lastRequest < '2026-11-20T15:00:00.000Z');
  const first = `${paymentStream(id)} revision 0`;
  t.like(await verified(t, content), { violation: null, payments: 10, unproven: 1, first, lastRequest });
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

type Line = Record<string, unknown>;
const linesIn = (content: string) =>
  content
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
const having = (lines: readonly Line[], name: string) => lines.filter((line) => line[name]);

/** The lines of the tree and its leaves. None of the leaves is named as an event of the file; if `only` is given, it alone is not. */
function anonymousLeaves(lines: readonly Line[], only?: Line): Line[] {
  const events = having(lines, 'stream');
  const streams = [...new Set(events.map((line) => line.stream))];
  const leafAt = ([number, revision]: unknown[]) => {
    const found = events.find(
      (line) => line.stream === streams[Number(number)] && line.revision === revision,
    );
    return leafOf({ ...found, streamName: found?.stream } as unknown as RecordedEvent);
  };
  const isNamed = ([number, revision]: unknown[]) =>
    only !== undefined && (only.stream !== streams[Number(number)] || only.revision !== revision);
  const leaves = having(lines, 'leaves').map((line) => ({
    leaves: (line.leaves as unknown[][]).map((entry) =>
      entry.length === 3 || isNamed(entry) ? entry : leafAt(entry),
    ),
  }));
  return [...having(lines, 'tree'), ...leaves];
}

const headOf = (lines: readonly Line[], span: { from: string; to: string }) => ({
  export: { ...Object(having(lines, 'export')[0]?.export), ...span },
});

test.serial('event left out of an export: the last of a payment, whose leaf is made anonymous', async (t) => {
  const content = relined(exported, (lines) => {
    const events = having(lines, 'stream');
    const hidden = events.at(-1);
    const end = { end: { events: events.length - 1, payments: 9 } };
    return [...having(lines, 'export'), ...events.slice(0, -1), ...anonymousLeaves(lines, hidden), end];
  });
  const { violation } = await verified(t, content);
  t.is(
    violation?.reason,
    `An event of ${paymentStream(paymentId(9))} is in the log, and was left out of the file`,
  );
});

test.serial('payment added to an export: in a tree of its own, which another one replaces', async (t) => {
  const at = '2026-11-20T05:00:00.000Z';
  const data = request({ at, transactionId: 'FORGED' });
  const events = stored(
    [{ type: 'PaymentRequested', data }, chosen(1), applied(result(1, 'succeeded'))],
    'FORGED',
  );
  const content = relined(exported, (lines) => {
    const [payments, tree] = [having(lines, 'stream'), having(lines, 'tree')];
    const own = { leaves: events.map(({ revision }) => [9, revision]) };
    const proof = [...tree, own, ...tree, ...having(lines, 'leaves')];
    const end = { end: { events: payments.length + 3, payments: 10 } };
    const forged = linesIn(createLines().payment(events));
    return [...having(lines, 'export'), ...payments, ...forged, ...proof, end];
  });
  t.regex((await verified(t, content)).violation?.reason ?? '', /The tree comes once/);
});

test.serial(
  'events left out of an export: of a payment of another day, with proofs of its own',
  async (t) => {
    const { eventStore } = await tampered(t, file, () => {});
    const events = (await eventStore.load(stream)).slice(0, 2);
    const proofs = await proveEvents(eventStore, events, signal);
    const payment = linesIn(createLines().payment(events, { proofs }));
    const day = { from: '2026-11-21T00:00:00.000Z', to: '2026-11-22T00:00:00.000Z' };
    const end = { end: { events: 2, payments: 1 } };
    const after = relined(exported, (lines) => [
      headOf(lines, day),
      ...anonymousLeaves(lines),
      ...payment,
      end,
    ]);
    t.regex((await verified(t, after)).violation?.reason ?? '', /comes after the leaves/);
    const before = relined(exported, (lines) => [
      headOf(lines, day),
      ...payment,
      ...anonymousLeaves(lines),
      end,
    ]);
    t.regex((await verified(t, before)).violation?.reason ?? '', /The tree comes once/);
  },
);

test.serial(
  'payment left out of an export: of a first second that is written without milliseconds',
  async (t) => {
    const span = { from: '2026-11-20T01:00:00Z', to: '2026-11-21T00:00:00Z' };
    const content = relined(exported, (lines) => [
      headOf(lines, span),
      ...anonymousLeaves(lines),
      { end: { events: 0, payments: 0 } },
    ]);
    t.regex(
      (await verified(t, content)).violation?.reason ?? '',
      /is in the log, and was left out of the file/,
    );
  },
);

test.serial(
  'payments left out of an export: the leaves begin after them, with a payment of an earlier time',
  async (t) => {
    const { eventStore } = await tampered(t, file, () => {});
    const own = await freshSealing(t);
    const past = request({ at: '2026-10-01T01:00:00.000Z', transactionId: paymentId(60) });
    await append(eventStore, paymentId(60), [{ type: 'PaymentRequested', data: past }]);
    await sealAll(eventStore, own, filled + 1);
    const seals = await eventStore.load(sealsStream);
    const [before, last] = seals.slice(-2).map((event) => readSignedSeal(event)?.checkpoint);
    const { size, roots } = before?.range ?? { size: 0, roots: [] };
    t.is(size, filled);
    const [added] = await eventStore.load(paymentStream(paymentId(60)));
    const { type, data, metadata } = seals.at(-2) as RecordedEvent;
    const forgedFor = (span: { from: string; to: string }, seal: object) =>
      relined(exported, (lines) => [
        headOf(lines, span),
        {
          tree: {
            size,
            roots: roots.map((each) => each.toString('base64')),
            checkpoint: last?.note,
            ...seal,
          },
        },
        { leaves: [leafOf(added as RecordedEvent)] },
        { end: { events: 0, payments: 0 } },
      ]);
    const day = { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' };
    const reasonFor = async (seal: object) =>
      (await verified(t, forgedFor(day, seal))).violation?.reason ?? '';
    t.regex(await reasonFor({}), /The leaves begin too late/);
    t.regex(await reasonFor({ seal: { type, data, metadata } }), /The leaves begin too late/);
    const earlier = { ...Object(data), at: '2026-11-19T00:00:00.000Z' };
    t.regex(await reasonFor({ seal: { type, data: earlier, metadata } }), /The leaves begin too late/);
    // A stranger adds a signature to the genuine checkpoint, and seals it with an earlier time.
    const { signature: _, ...unsigned } = Object(data);
    const { text = '' } = parseNote(before?.note ?? '') ?? {};
    const checkpoint = before?.note + signatureLine(text, 'ledger.example/log', otherKey);
    const strangers = { ...unsigned, at: earlier.at, checkpoint, publicKey: otherKey.publicKey };
    const resealed = { ...strangers, signature: otherKey.sign(signedText(strangers)) };
    t.truthy(readSignedSeal({ type, data: resealed, metadata }));
    t.regex(await reasonFor({ seal: { type, data: resealed, metadata } }), /The leaves begin too late/);
    // It was sealed at two o'clock, and times may be wrong by an hour.
    const since = (from: string) =>
      verified(t, forgedFor({ from, to: '2026-11-22T00:00:00.000Z' }, { seal: { type, data, metadata } }));
    t.is(Object(data).at, '2026-11-20T02:00:00.000Z');
    t.regex((await since('2026-11-20T02:59:59.999Z')).violation?.reason ?? '', /The leaves begin too late/);
    t.like(await since('2026-11-20T03:00:00.000Z'), { violation: null, lastRequest: past.at });
    // Whoever has the key can sign any time. Witnesses sign theirs.
    const witness = { kind: 'witness', name: 'w/1', publicKey: rawKeyOf(otherKey.publicKey) } as const;
    const witnessedAt = async (time: string) => {
      const signed = (note = '') =>
        note + cosignatureLine(parseNote(note)?.text ?? '', 'w/1', otherKey, new Date(time));
      const sealed = { ...unsigned, checkpoint: signed(before?.note) };
      const own = { ...sealed, signature: key.sign(signedText(sealed)) };
      const lines = { checkpoint: signed(last?.note), seal: { type, data: own, metadata } };
      const nextDay = { from: '2026-11-21T00:00:00.000Z', to: '2026-11-22T00:00:00.000Z' };
      const witnesses = { known: [witness], needed: 1 };
      return (await verified(t, forgedFor(nextDay, lines), undefined, witnesses)).violation?.reason ?? '';
    };
    t.is(await witnessedAt('2026-11-21T00:00:00.000Z'), '');
    t.regex(await witnessedAt('2026-11-21T00:00:01.000Z'), /The leaves begin too late/);

    // A clock that was wrong once does not harm the exports that come after.
    const content = await exportOf(eventStore);
    const lastRequest = '2026-11-20T01:00:00.000Z';
    t.like(await verified(t, content), { violation: null, payments: 9, unproven: 0, lastRequest });
    const later = await exportOf(eventStore, { from: '2026-11-22', to: '2026-11-22' });
    t.regex(later, /"tree":{"size":46,/);
    t.like(await verified(t, later), { violation: null, payments: 0, unproven: 0 });
  },
);

test.serial(
  'export with a field that is there twice, of which other programs may read the first',
  async (t) => {
    let checksum = firstChecksum;
    const lines = exported
      .trim()
      .split('\n')
      .map((line, index) => {
        const changed = index === 1 ? line.replace(',"data":', ',"data":{"amountSen":1},"data":') : line;
        const text = changed.slice(0, -tailLength);
        checksum = checksumOf(checksum, text);
        return `${text},"checksum":"${checksum}"}\n`;
      });
    const { violation } = await verified(t, lines.join(''));
    t.like(violation, { line: 2, reason: 'It is not a line of an export' });
  },
);

test.serial('erasure: with its keys destroyed, the proofs and exports of a payment still hold', async (t) => {
  const { eventStore } = await tampered(t, file, () => {});
  const own = await freshSealing(t);
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
  t.like(await verified(t, await exportOf(eventStore, { opened: 'yes' })), {
    ...{ violation: null, unproven: 0, isOpened: true },
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
