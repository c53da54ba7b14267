import { indexable } from '@ledger/postgres/table.ts';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import type { Knex } from 'knex';
import type { Sen } from '../../../src/common/money.ts';
import { exceptionsOf } from '../../../src/events/exceptions.ts';
import type { Payment } from '../../../src/events/payment.ts';
import { payments } from '../../../src/projections/payments/projection.ts';
import { createPaymentQueries } from '../../../src/projections/payments/queries.ts';
import { personalData } from '../../support/personal-data.ts';
import { createDatabase } from '../../support/postgres.ts';
import { runs } from '../../support/property-runs.ts';
import { append, foldAfresh, methodChosen, paymentRequested, reached, run, startStores } from '../helpers.ts';
import { history } from '../histories.ts';

const postgres = await createDatabase();

test.serial(
  'a row is what a fresh fold of its stream is, whatever the history and however streams interleave',
  async (t) => {
    const { database, store, db, eventStore } = await startStores(t, postgres);
    run(t, payments, store, database);
    const { findPayment } = createPaymentQueries(db, personalData, async () => {});
    let serial = 0;

    await fc.assert(
      fc.asyncProperty(fc.array(history, { minLength: 1, maxLength: 5 }), async (histories) => {
        const streams = histories.map((events) => {
          serial += 1;
          return { id: `P${serial}`, events };
        });
        const longest = Math.max(...histories.map((events) => events.length));
        let position = { commit: 0n, prepare: 0n };
        for (let revision = 0; revision < longest; revision += 1) {
          for (const { id, events } of streams) {
            const event = events[revision];
            if (event)
              position = await append(eventStore, id, [event], revision === 0 ? 'no_stream' : revision - 1);
          }
        }
        await reached(db, 'payments', position);
        for (const { id } of streams) {
          const fresh = await foldAfresh(eventStore, id);
          t.deepEqual(await findPayment(id), fresh as Awaited<ReturnType<typeof findPayment>>);
          await checkExceptions(t, db, id, fresh.state);
        }
      }),
      { numRuns: runs(15) },
    );
  },
);

async function checkExceptions(t: ExecutionContext, db: Knex, id: string, state: Payment): Promise<void> {
  if (state.status === 'none') return t.fail();
  const rows = await db('payments.exceptions').where({ transaction_id: id, source: 'payment' }).orderBy('no');
  const expected = exceptionsOf(state).map(({ resultNo, kind, at, amountSen, resolved }) => ({
    transaction_id: id,
    source: 'payment',
    no: resultNo,
    kind,
    merchant_code: indexable(state.request.merchant.code),
    at: new Date(at),
    amount_sen: amountSen,
    resolution: resolved?.resolution ?? null,
    resolved_at: resolved && new Date(resolved.at),
  }));
  t.deepEqual(rows, expected);
}

test.serial('the columns hold what payments are found by', async (t) => {
  const { database, store, db, eventStore } = await startStores(t, postgres);
  const request = paymentRequested({
    at: '2026-11-20T01:02:03.000Z',
    channel: 'landreg',
    merchant: { code: 'pejabat', id: 7, name: 'Pejabat Tanah' },
    reference: `\0${'r'.repeat(5_000)}`,
    amountSen: 9_000_000_000_000_000 as Sen,
  });
  const result = {
    outcome: 'succeeded',
    mode: 'cc',
    sellerOrderNo: '',
    gatewayTransactionId: 'G1',
    amountSen: 1,
    currency: 'MYR',
    paidAt: '2026-11-20T01:05:00.000Z',
    receiptNo: 'R1',
    buyerBank: '',
  };
  const paid = {
    at: '2026-11-20T01:06:00.000Z',
    source: 'gateway',
    verified: true,
    receiptNo: 'R1',
    late: false,
    result,
    personal: { plain: { buyerName: '' } },
    evidence: { plain: {} },
    orderNo: null,
    merchantCode: 'pejabat',
    deliveries: [],
    postingRule: 1,
  };
  const odd = { ...paid, result: { ...result, mode: '', paidAt: '0000-01-01T00:00:00.000Z' } };
  const expiresAt = new Date('2026-11-30T01:00:00.000Z');
  const expiring = { ...request, data: { ...request.data, expiresAt: expiresAt.toISOString() } };
  await append(eventStore, 'A', [expiring]);
  await append(eventStore, 'B', [expiring, { type: 'PaymentSucceeded', data: paid }]);
  await append(eventStore, 'D', [request, methodChosen()]);
  const last = await append(eventStore, 'C', [request, { type: 'PaymentSucceeded', data: odd }]);
  run(t, payments, store, database);
  await reached(db, 'payments', last);

  const rows = await db.withSchema('payments').from('payments').orderBy('transaction_id');
  const { mac, state: _, updated_at: updatedAt, ...unpaid } = rows[0];
  t.true(updatedAt instanceof Date);
  t.regex(mac, /^[\w-]{22}$/);
  const common = {
    channel: 'landreg',
    merchant_code: 'pejabat',
    reference: `\ufffd${'r'.repeat(199)}`,
    amount_sen: 9_000_000_000_000_000,
    requested_at: new Date('2026-11-20T01:02:03.000Z'),
  };
  t.deepEqual(unpaid, {
    ...common,
    transaction_id: 'A',
    revision: 0,
    status: 'requested',
    mode: '',
    keys: ['=a', `~${'r'.repeat(200)}`, 'rrr'],
    receipt_no: null,
    expires_at: expiresAt,
    paid_at: null,
    holds_personal_data: true,
    was_erased: false,
  });
  t.like(rows[1], {
    ...common,
    transaction_id: 'B',
    revision: 1,
    status: 'succeeded',
    mode: 'cc',
    receipt_no: 'R1',
    expires_at: null,
    paid_at: new Date('2026-11-20T01:05:00.000Z'),
  });
  t.like(
    rows[2],
    { status: 'succeeded', paid_at: null, mode: '' },
    'a year that Postgres has no name for stops nothing',
  );
  t.is(rows[3].mode, 'fpx', 'as chosen, while no result names another');

  const { findByReceiptNo } = createPaymentQueries(db, personalData, async () => {});
  await db('payments.payments').where('transaction_id', 'C').update('requested_at', '2026-11-21');
  t.deepEqual(await findByReceiptNo('R1'), ['C', 'B'], 'the latest first');
  t.deepEqual(await findByReceiptNo('R'), []);
});

test.serial('a payment that is not there is null', async (t) => {
  const { database, store, db, eventStore } = await startStores(t, postgres);
  const { findPayment } = createPaymentQueries(db, personalData, async () => {});
  await t.throwsAsync(findPayment('A'), { message: /does not exist/ }, 'before the projection first ran');
  run(t, payments, store, database);
  await reached(db, 'payments', await append(eventStore, 'A', [paymentRequested()]));
  t.is((await findPayment('A'))?.revision, 0);
  t.is(await findPayment('B'), null);
});

test.serial('events that a row already holds are passed over', async (t) => {
  const { database, store, db, eventStore } = await startStores(t, postgres);
  const first = run(t, payments, store, database);
  await reached(db, 'payments', await append(eventStore, 'A', [paymentRequested(), methodChosen()]));
  await first.stop();
  await db.raw('update checkpoints set commit_position = null, prepare_position = null');
  const position = await append(eventStore, 'A', [methodChosen(2)], 1);
  run(t, payments, store, database);
  await reached(db, 'payments', position);
  const { findPayment } = createPaymentQueries(db, personalData, async () => {});
  t.deepEqual(
    await findPayment('A'),
    (await foldAfresh(eventStore, 'A')) as Awaited<ReturnType<typeof findPayment>>,
  );
});
