/**
 * The payments that the registry is to be asked about, made from the log: choices of a payment method open attempts, and
 * results close them. The reactors role runs it beside the list of deliveries; it is not rebuilt either, because its rows
 * also hold leases, and answers that have only been counted. requery-queue.ts claims its rows.
 */
import { holdsNothing } from '@ledger/personal-data/sealed.ts';
import { prepared } from '@ledger/postgres/prepared.ts';
import { createTables, indexesOf, insertGiven } from '@ledger/postgres/table.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import type { Knex } from 'knex';
import tables from '../../content/tables/requeries.json' with { type: 'json' };
import type { Sen } from '../common/money.ts';
import { sqlOf } from '../common/sql.ts';
import { adjustmentEvents } from '../events/adjustments.ts';
import {
  evolve,
  type Payment,
  type PaymentEvent,
  paymentIdOf,
  paymentStreamPrefix,
  readPaymentEvent,
} from '../events/payment.ts';
import { type RecordedResult, resultRoles } from '../events/recorded-result.ts';
import { requeryEvents } from '../events/requery.ts';
import { type AskedPayment, attemptsToAsk, nextRequeryAt } from '../events/requery-schedule.ts';

/** The part of a payment that its questions depend on, up to a revision. Plain JSON, no personal data. */
type KnownAttempts = AskedPayment & { paidSen?: Sen; revision: number };

export const countingGrant = sqlOf('counting-grant');

export const requeryList = {
  name: 'reactor_requeries',
  version: 4,
  isNeverRebuilt: true,
  eventTypes: [
    'PaymentMethodChosen',
    'GatewayResultIdentified',
    ...Object.keys(resultRoles),
    ...Object.keys(adjustmentEvents),
    ...Object.keys(requeryEvents),
  ],
  async createTables(db) {
    await createTables(db, tables.requeries, tables.pace);
    await db.raw(`insert into pace values (1, 'epoch')`);
    await db.raw(countingGrant);
  },
  indexes: indexesOf(tables.requeries),
  notDerived: {
    requeries: Object.keys(tables.requeries.moreColumns),
    pace: Object.keys(tables.pace.moreColumns),
  },
  async project(events, db) {
    const ours = events.filter(({ streamName }) => streamName.startsWith(paymentStreamPrefix));
    const { rows } = await prepared<{ rows: { id: string; known: KnownAttempts }[] }>(
      db,
      'select transaction_id as id, known from requeries where transaction_id = any(?)',
      [[...new Set(ours.map(({ streamName }) => paymentIdOf(streamName)))]],
    );
    const stored = new Map(rows.map(({ id, known }) => [id, known]));
    const changed = new Map<string, KnownAttempts>();
    for (const event of ours) {
      const id = paymentIdOf(event.streamName);
      const known = changed.get(id) ?? stored.get(id) ?? unknown;
      if (event.revision > known.revision)
        changed.set(id, takeEvent(known, readPaymentEvent(event), event.revision));
    }
    await write(changed, db);
  },
} satisfies Projection;

const unknown = { status: 'requested', revision: -1, attempts: [], results: [], lastRequery: null } as const;

/** What the rows do not keep: nothing in the part that they do keep depends on it. */
const notKept = {
  request: { channel: 'generic', callbackUrl: '', items: [], emailReceipt: false },
  receipt: null,
  closedAttempts: 0,
  deliveries: [],
  personalData: holdsNothing,
};

/** By the payment's own fold, of which only the part that is kept is taken. */
function takeEvent(known: KnownAttempts, event: PaymentEvent, revision: number): KnownAttempts {
  const payment = evolve({ ...notKept, ...known } as unknown as Payment, event);
  if (payment.status === 'none') throw new Error('No event takes a payment back');
  const { attempts, lastRequery, paidSen, results, status, unknownOutcomes } = payment;
  return {
    ...known,
    status,
    revision,
    attempts: attempts.map(({ at, mode, sellerOrderNo }) => ({ at, mode, sellerOrderNo })),
    results: results.map(keptOf),
    lastRequery: lastRequery && { at: lastRequery.at },
    ...(paidSen !== undefined && { paidSen }),
    ...(unknownOutcomes && { unknownOutcomes: unknownOutcomes.map(({ orderNo }) => ({ orderNo })) }),
  };
}

function keptOf(result: RecordedResult): KnownAttempts['results'][number] {
  const { at, gatewayTransactionId, isOrderInferred, mode, outcome, role, sellerOrderNo } = result;
  const order = { sellerOrderNo, ...(isOrderInferred && { isOrderInferred }) };
  return { ...order, gatewayTransactionId, mode, outcome, role, at };
}

async function write(changed: ReadonlyMap<string, KnownAttempts>, db: Knex.Transaction): Promise<void> {
  if (changed.size === 0) return;
  const rows = Array.from(changed, ([id, known]) => {
    const dueAt = nextRequeryAt(known);
    const row = { transaction_id: id, known: JSON.stringify(known), due_at: dueAt, wake_at: dueAt };
    return { ...row, is_open: attemptsToAsk(known).length > 0 };
  });
  await prepared(db, upsertRows, [JSON.stringify(rows)]);
}

const upsertRows = sqlOf('write-requeries', {
  insert: insertGiven({
    name: 'requeries',
    columns: { ...tables.requeries.columns, wake_at: 'timestamptz' },
  }),
});
