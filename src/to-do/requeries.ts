/**
 * The payments that the registry is to be asked about, made from the log: choices of a payment method open attempts, and
 * results close them. The reactors role runs it beside the list of deliveries; it is not rebuilt either, because its rows
 * also hold leases, and answers that have only been counted. requery-queue.ts claims its rows.
 */
import { prepared } from '@ledger/postgres/prepared.ts';
import { createTables, indexesOf, insertGiven } from '@ledger/postgres/table.ts';
import type { Followed, Projection } from '@ledger/projections/runtime/projection.ts';
import type { Knex } from 'knex';
import tables from '../../content/tables/requeries.json' with { type: 'json' };
import type { Sen } from '../common/money.ts';
import type { PaymentMode } from '../common/payment-modes.ts';
import { sqlOf } from '../common/sql.ts';
import { adjustmentEvents, isAdjustmentEvent, statusAfter, withStatusAfter } from '../events/adjustments.ts';
import { type PaymentEvent, paymentIdOf, paymentStreamPrefix, readPaymentEvent } from '../events/payment.ts';
import { orderOf } from '../events/payment-result.ts';
import {
  identified,
  inferenceOf,
  type RecordedResult,
  resultRoles,
  withChanged,
} from '../events/recorded-result.ts';
import { requeryEvents } from '../events/requery.ts';
import { type AskedPayment, attemptsToAsk, nextRequeryAt } from '../events/requery-schedule.ts';

export const requeryList = {
  name: 'reactor_requeries',
  version: 4,
  isToDoList: true,
  eventTypes: [
    'PaymentMethodChosen',
    'GatewayResultIdentified',
    ...Object.keys(resultRoles),
    ...Object.keys(adjustmentEvents),
    ...Object.keys(requeryEvents),
  ],
} as const satisfies Followed;

/** What is known of a payment, as far as its questions depend on it. Plain JSON, no personal data. */
type Known = Omit<AskedPayment, 'attempts' | 'results'> & {
  paidSen?: Sen;
  /** Of the last event that was processed. */
  revision: number;
  attempts: readonly { sellerOrderNo: string; at: string; mode: PaymentMode }[];
  results: readonly (AskedPayment['results'][number] &
    Pick<RecordedResult, 'gatewayTransactionId' | 'isOrderInferred'>)[];
};

export const countingGrant = sqlOf('counting-grant');

export const requeries: Projection = {
  ...requeryList,
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
    const { rows } = await prepared<{ rows: { id: string; known: Known }[] }>(
      db,
      'select transaction_id as id, known from requeries where transaction_id = any(?)',
      [[...new Set(ours.map(({ streamName }) => paymentIdOf(streamName)))]],
    );
    const stored = new Map(rows.map(({ id, known }) => [id, known]));
    const changed = new Map<string, Known>();
    for (const event of ours) {
      const id = paymentIdOf(event.streamName);
      const known = changed.get(id) ?? stored.get(id) ?? nothingKnown;
      if (event.revision > known.revision)
        changed.set(id, { ...next(known, readPaymentEvent(event)), revision: event.revision });
    }
    await write(changed, db);
  },
};

const nothingKnown: Known = {
  status: 'requested',
  revision: -1,
  attempts: [],
  results: [],
  lastRequery: null,
};

/** As `evolve` of a payment, for what is known. */
function next(known: Known, event: PaymentEvent): Known {
  switch (event.type) {
    case 'PaymentMethodChosen': {
      const { at, mode, sellerOrderNo } = event.data;
      return { ...known, attempts: [...known.attempts, { at, mode, sellerOrderNo }] };
    }
    case 'GatewayResultIdentified': {
      const { data } = event;
      return { ...known, results: withChanged(known.results, data.resultNo, (it) => identified(it, data)) };
    }
    case 'RequeryAnswered':
    case 'RequeryRepeated':
    case 'RequeryUnanswered':
      return { ...known, lastRequery: { at: event.data.at } };
    case 'AttemptOutcomeUnknown': {
      const { orderNo } = event.data;
      return { ...known, unknownOutcomes: [...(known.unknownOutcomes ?? []), { orderNo }] };
    }
    default:
      if (isAdjustmentEvent(event)) return withStatusAfter(known, event);
      return 'result' in event.data ? withResult(known, event as ResultEvent) : known;
  }
}

type ResultEvent = Extract<PaymentEvent, { type: keyof typeof resultRoles }>;

function withResult(known: Known, { type, data }: ResultEvent): Known {
  const role = resultRoles[type];
  // As in `evolve`: a success is final.
  if (role === 'applied' && known.status === 'succeeded') return known;
  const { at, source, result } = data;
  const { gatewayTransactionId, mode, outcome } = result;
  const order = { sellerOrderNo: orderOf(known, data), ...inferenceOf(known, data) };
  const added = { ...order, gatewayTransactionId, mode, outcome, role, at };
  return {
    ...known,
    status:
      role !== 'applied' ? known.status : outcome === 'succeeded' ? outcome : statusAfter(known, outcome),
    results: [...known.results, added],
    lastRequery: source === 'requery' && role !== 'ended' ? { at } : known.lastRequery,
  };
}

async function write(changed: ReadonlyMap<string, Known>, db: Knex.Transaction): Promise<void> {
  if (changed.size === 0) return;
  const rows = Array.from(changed, ([id, known]) => {
    const dueAt = nextRequeryAt(known);
    const isOpen = attemptsToAsk(known).length > 0;
    return {
      transaction_id: id,
      known: JSON.stringify(known),
      due_at: dueAt,
      is_open: isOpen,
      wake_at: dueAt,
    };
  });
  await prepared(db, upsertRows, [JSON.stringify(rows)]);
}

const upsertRows = sqlOf('write-requeries', {
  insert: insertGiven({
    name: 'requeries',
    columns: { ...tables.requeries.columns, wake_at: 'timestamptz' },
  }),
});
