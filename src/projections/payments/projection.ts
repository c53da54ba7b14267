/**
 * One row per payment: the state that its events fold to, and the columns that payments are found by. What a state
 * calls for is written beside it, in the table of deliveries.ts.
 */

import { readPaymentEvent } from '../../events/codec.ts';
import {
  currentResult,
  evolve,
  noPayment,
  type Payment,
  paymentStreamPrefix,
  type RequestedPayment,
} from '../../events/payment.ts';
import { nextRequeryAt } from '../../events/requery-schedule.ts';
import type { RecordedEvent } from '../../eventstore/event-store.ts';
import { indexable } from '../../postgres/indexable.ts';
import {
  carryLeasesOver,
  createDeliveriesIndexes,
  createDeliveriesTable,
  writeDeliveries,
} from '../deliveries/table.ts';
import { createExceptionsIndexes, createExceptionsTable, writeExceptions } from '../exceptions/table.ts';
import { type Projection, ProjectionFault } from '../runtime/projection.ts';
import { searchTokens } from './search-tokens.ts';

export const payments: Projection = {
  name: 'payments',
  version: 6,
  streamPrefixes: [paymentStreamPrefix],

  async createTables(db) {
    // The state is json, not jsonb: jsonb refuses U+0000 and half a surrogate pair, which people's input can hold,
    // and a state that came back changed would not fold on as it did.
    // The reference is not unique here: the transaction id, derived from it, is; and two references may look the
    // same in `findable`. A unique index would let one merchant stop everybody's payments.
    await db.raw(`
      create table payments (
        transaction_id text primary key,
        revision integer not null,
        channel text not null,
        merchant_code text not null,
        reference text not null,
        status text not null,
        mode text not null,
        amount_sen bigint not null,
        receipt_no text,
        requested_at timestamptz not null,
        paid_at timestamptz,
        requery_at timestamptz,
        updated_at timestamptz not null,
        search_tokens text[] not null,
        state json not null
      )`);
    await createDeliveriesTable(db);
    await createExceptionsTable(db);
  },

  async createIndexes(db) {
    await db.raw('create index if not exists payments_by_reference on payments (merchant_code, reference)');
    await db.raw(
      'create index if not exists payments_by_requery on payments (requery_at) where requery_at is not null',
    );
    await db.raw('create index if not exists payments_by_receipt_no on payments (receipt_no)');
    await db.raw('create index if not exists payments_by_payer on payments using gin (search_tokens)');
    await db.raw('create index if not exists payments_by_time on payments (requested_at)');
    await db.raw(
      'create index if not exists payments_by_paid_at on payments (paid_at) where paid_at is not null',
    );
    await createDeliveriesIndexes(db);
    await createExceptionsIndexes(db);
  },

  async carryOver(db, { schema, isSameVersion }) {
    // Tables of another version may have other columns. A delivery that loses its lease may be sent twice, with one id.
    if (isSameVersion) await carryLeasesOver(db, schema);
    return true;
  },

  notDerived: {
    // Put off while the registry has no answer.
    payments: ['requery_at'],
    deliveries: ['lease_until', 'leased_by', 'leased_delivery'],
  },

  async project(events, db) {
    const ids = [...new Set(events.map(transactionIdOf))];
    const { rows } = await db.raw<{ rows: Folded[] }>(
      'select transaction_id as "transactionId", revision, state from payments where transaction_id = any(?)',
      [ids],
    );
    const changed = fold(rows, events);
    if (changed.length === 0) return;
    await db.raw(upsert, [JSON.stringify(changed.map(rowOf))]);
    await writeDeliveries(changed, db);
    await writeExceptions(changed, db);
  },
};

type Folded = { transactionId: string; revision: number; state: Payment };
type Changed = Folded & { updatedAt: Date };

const transactionIdOf = ({ streamName }: RecordedEvent) => streamName.slice(paymentStreamPrefix.length);

/** The payments that the events changed. An event that its row already holds is passed over. */
function fold(rows: readonly Folded[], events: readonly RecordedEvent[]): Changed[] {
  const stored = new Map(rows.map((row) => [row.transactionId, row]));
  const changed = new Map<string, Changed>();
  for (const event of events) {
    const transactionId = transactionIdOf(event);
    const { revision, state } = changed.get(transactionId) ?? stored.get(transactionId) ?? unwritten;
    if (event.revision <= revision) continue;
    if (event.revision > revision + 1)
      throw new ProjectionFault(`Revision ${revision + 1} of the stream is missing before this event`);
    changed.set(transactionId, {
      transactionId,
      revision: event.revision,
      state: evolve(state, readPaymentEvent(event)),
      updatedAt: event.created,
    });
  }
  return [...changed.values()];
}

const unwritten = { revision: -1, state: noPayment };

function rowOf({ transactionId, revision, state, updatedAt }: Changed) {
  if (state.status === 'none')
    throw new ProjectionFault('The stream does not begin with a requested payment');
  const { request, receipt } = state;
  return {
    transaction_id: transactionId,
    revision,
    channel: request.channel,
    merchant_code: indexable(request.merchant.code),
    reference: indexable(request.reference),
    status: state.status,
    mode: currentResult(state)?.mode || (state.attempts.at(-1)?.mode ?? ''),
    amount_sen: request.amountSen,
    receipt_no: receipt && indexable(receipt.receiptNo),
    requested_at: request.at,
    paid_at: state.status === 'succeeded' ? paidAt(state) : null,
    requery_at: nextRequeryAt(state),
    updated_at: updatedAt,
    search_tokens: searchTokens(request.payer),
    // Text within the text, so that Postgres reads none of its escapes before it is json.
    state: JSON.stringify(state),
  };
}

/** When the gateway says it was paid, else when we heard of it; null for a year that Postgres has no name for. */
function paidAt(payment: RequestedPayment): Date | null {
  const result = currentResult(payment);
  const time = new Date(result?.paidAt ?? result?.at ?? Number.NaN);
  return time.getUTCFullYear() > 0 ? time : null;
}

const upsert = `
  insert into payments
  select transaction_id, revision, channel, merchant_code, reference, status, mode, amount_sen,
    receipt_no, requested_at, paid_at, requery_at, updated_at, search_tokens, state::json
  from json_to_recordset(?) as changed (
    transaction_id text, revision integer, channel text, merchant_code text, reference text, status text,
    mode text, amount_sen bigint, receipt_no text, requested_at timestamptz, paid_at timestamptz,
    requery_at timestamptz, updated_at timestamptz, search_tokens text[], state text
  )
  on conflict (transaction_id) do update set
    revision = excluded.revision, status = excluded.status, mode = excluded.mode, receipt_no = excluded.receipt_no,
    paid_at = excluded.paid_at, requery_at = excluded.requery_at, updated_at = excluded.updated_at,
    state = excluded.state`;
