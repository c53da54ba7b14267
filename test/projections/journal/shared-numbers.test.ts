// Numbers that two payments share: found whatever the batches, replays and rebuilds, and never in the way of the journal.
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import test from 'ava';
import fc from 'fast-check';
import type { Knex } from 'knex';
import type { PaymentEvent } from '../../../src/events/payment.ts';
import { sharedNumberIdOf, sharedNumberStream } from '../../../src/events/shared-number.ts';
import { schemaVersion } from '../../../src/events/upcast.ts';
import {
  findSharedNumber,
  openSharedNumbers,
} from '../../../src/projections/journal/shared-number-queries.ts';
import { chosen, duplicated, mismatched, request, result, sen, succeeded } from '../../support/payments.ts';
import { createDatabase } from '../../support/postgres.ts';
import { runs } from '../../support/property-runs.ts';
import { clearJournal, emptyJournal, feed, recorded } from '../journals.ts';

const postgres = await createDatabase();

type Script = {
  merchant: 'council' | 'museum';
  gatewayId: string;
  receiptNo: string;
  also: 'nothing' | 'duplicate' | 'mismatch';
};

const script: fc.Arbitrary<Script> = fc.record({
  merchant: fc.constantFrom('council', 'museum'),
  gatewayId: fc.constantFrom('', 'G1', 'G2', 'G\0', 'g'.repeat(300)),
  receiptNo: fc.constantFrom('R-1', 'R-2', 'R-3'),
  also: fc.constantFrom('nothing', 'duplicate', 'mismatch'),
});

/** The events of one payment. */
function eventsOf({ merchant, gatewayId, receiptNo, also }: Script): PaymentEvent[] {
  const first = result(1, 'succeeded', { gatewayTransactionId: gatewayId });
  const second = result(1, 'succeeded', { gatewayTransactionId: 'G2', amountSen: sen(7) });
  const asked: PaymentEvent = {
    type: 'PaymentRequested',
    data: request({ merchant: { code: merchant, id: 1, name: merchant } }),
  };
  return [
    asked,
    chosen(1),
    ...(also === 'mismatch' ? [mismatched(second)] : []),
    succeeded(first, { receiptNo }),
    ...(also === 'duplicate' ? [duplicated(second, gatewayId)] : []),
  ];
}

/** The log of some payments: their events in an order that keeps each payment's own. */
const logs = fc.array(script, { minLength: 1, maxLength: 6 }).chain((scripts) => {
  const streams = scripts.map((each, index) => recorded(`P${index}`, eventsOf(each)));
  const turns = streams.flatMap((events, index) => events.map(() => index));
  return fc.shuffledSubarray(turns, { minLength: turns.length }).map((order) => {
    const next = streams.map((events) => events.values());
    const log = order.flatMap((index) => next[index]?.next().value ?? []);
    return { scripts, log };
  });
});

/** Feeds the log in batches of the given sizes, each a second time as after a crash of the runner. */
async function feedInBatches(
  db: Knex,
  log: readonly RecordedEvent[],
  sizes: readonly number[],
): Promise<void> {
  let from = 0;
  for (let index = 0; from < log.length; index += 1) {
    const batch = log.slice(from, from + (sizes[index % sizes.length] ?? 1));
    await feed(db, batch);
    await feed(db, batch);
    from += batch.length;
  }
}

const rowsOf = (db: Knex) =>
  db('journal.shared_numbers')
    .orderBy('id')
    .select('id', 'kind', 'number', 'transaction_id', 'first_transaction_id');

/** Which payments have a number that another one had before them in the log. */
function expectedIds({
  scripts,
  log,
}: {
  scripts: readonly Script[];
  log: readonly RecordedEvent[];
}): string[] {
  const holders = new Map<string, string>();
  const found = new Set<string>();
  for (const { streamName, type, data } of log) {
    const transactionId = streamName.slice('payment-'.length);
    const merchant = scripts[Number(transactionId.slice(1))]?.merchant ?? '';
    const reported = (data as { result?: { gatewayTransactionId: string } }).result;
    if (!reported) continue;
    const numbers = [
      { kind: 'sharedGatewayTransaction' as const, merchantCode: '', number: reported.gatewayTransactionId },
      ...(type === 'PaymentSucceeded'
        ? [
            {
              kind: 'sharedReceiptNo' as const,
              merchantCode: merchant,
              number: (data as { receiptNo: string }).receiptNo,
            },
          ]
        : []),
    ];
    for (const number of numbers.filter((each) => each.number !== '')) {
      const key = JSON.stringify(number);
      const holder = holders.get(key) ?? transactionId;
      holders.set(key, holder);
      if (holder !== transactionId) found.add(sharedNumberIdOf(number, transactionId));
    }
  }
  return [...found].toSorted();
}

test.serial(
  'the same exceptions whatever the batches, each for a payment that was not the first',
  async (t) => {
    const db = await emptyJournal(t, postgres);
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(logs, sizes, sizes, async (history, some, others) => {
        await clearJournal(db);
        await feedInBatches(db, history.log, some);
        const rows = await rowsOf(db);
        t.deepEqual(rows.map(({ id }) => id).toSorted(), expectedIds(history));
        await clearJournal(db);
        await feedInBatches(db, history.log, others);
        t.deepEqual(await rowsOf(db), rows);
      }),
      { numRuns: runs(60) },
    );
  },
);

test.serial('one gateway transaction of two payments stays open until staff explain it', async (t) => {
  const db = await emptyJournal(t, postgres);
  const each: Script = { merchant: 'council', gatewayId: 'G1', receiptNo: 'R-1', also: 'nothing' };
  await feed(db, recorded('A', eventsOf(each)));
  t.deepEqual(await openSharedNumbers(db), { count: 0, first: null });
  await feed(db, recorded('B', eventsOf({ ...each, receiptNo: 'R-2' })));
  const { count, first } = await openSharedNumbers(db);
  t.is(count, 1);
  t.like(first, { number: 'G1', firstTransactionId: 'A', transactionId: 'B', amountSen: 12_050 });

  // Its first report named no transaction; a later one does.
  const named = {
    at: '2026-11-20T02:00:00.000Z',
    source: 'gateway',
    resultNo: 1,
    gatewayTransactionId: 'G1',
    sellerOrderNo: '',
  } as const;
  const unnamed = eventsOf({ ...each, gatewayId: '', receiptNo: 'R-3' });
  await feed(db, recorded('C', [...unnamed, { type: 'GatewayResultIdentified', data: named }]));
  t.is((await openSharedNumbers(db)).count, 2);
  const ofC = sharedNumberIdOf({ kind: 'sharedGatewayTransaction', merchantCode: '', number: 'G1' }, 'C');
  t.like(await findSharedNumber(db, ofC), { firstTransactionId: 'A', transactionId: 'C' });

  // A wrong amount is credited, with the receipt number of A.
  const credited = {
    ...{ at: '2026-11-20T03:00:00.000Z', by: 'staff:A', merchantCode: 'council', postingRule: 3 as const },
    ...{ resultNo: 1, note: '', effect: 'paid' as const, deliveries: [], receiptNo: 'R-1' },
    ...{ amountSen: sen(7), paidSen: sen(7), paidAt: '2026-11-20T01:00:00.000Z' },
  };
  const [asked, choice, wrong] = eventsOf({ ...each, also: 'mismatch' });
  const events = [asked, choice, wrong, { type: 'AmountMismatchCredited', data: credited }] as PaymentEvent[];
  await feed(db, recorded('D', events));
  const ofD = sharedNumberIdOf({ kind: 'sharedReceiptNo', merchantCode: 'council', number: 'R-1' }, 'D');
  t.like(await findSharedNumber(db, ofD), { firstTransactionId: 'A', transactionId: 'D', amountSen: 7 });

  const id = sharedNumberIdOf({ kind: 'sharedGatewayTransaction', merchantCode: '', number: 'G1' }, 'B');
  const explained: RecordedEvent = {
    id: '',
    type: 'SharedNumberExplained',
    data: { at: '2026-11-21T00:00:00.000Z', note: 'Two charges, numbered alike' },
    metadata: { schemaVersion },
    streamName: sharedNumberStream(id),
    revision: 0,
    position: { commit: 0n, prepare: 0n },
    created: new Date(),
  };
  await feed(db, [explained, explained, { ...explained, streamName: sharedNumberStream('0'.repeat(26)) }]);
  t.like(await openSharedNumbers(db), { count: 2, first: { transactionId: 'C' } });
  t.like(await findSharedNumber(db, id), { kind: 'sharedGatewayTransaction' });
});
