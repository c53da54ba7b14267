/**
 * One row per payment: the state that its events fold to, and the columns by which payments are found. What the state
 * leaves for staff goes into the table of exceptions, and how its payer is found into that of payers.
 */
import { priceOf } from '../../events/charges.ts';
import { readPaymentEvent } from '../../events/codec.ts';
import {
  currentResult,
  evolve,
  noPayment,
  paymentStreamPrefix,
  type RequestedPayment,
} from '../../events/payment.ts';
import { isHolding } from '../../events/personal-data.ts';
import { standingOf } from '../../events/standing.ts';
import { indexable } from '../../postgres/table.ts';
import { exceptionIndexes, exceptionTables, writeExceptions } from '../exceptions/tables.ts';
import type { Projection } from '../runtime/projection.ts';
import { streamProjection } from '../runtime/stream-projection.ts';
import { macOf } from './mac.ts';
import { payersIndexes, payersTable, writePayers } from './payers.ts';

export const payments: Projection = {
  ...streamProjection({
    name: 'payments',
    version: 12,
    streamPrefix: paymentStreamPrefix,
    idColumn: 'transaction_id',
    evolve(state: RequestedPayment | null, event) {
      const next = evolve(state ?? noPayment, readPaymentEvent(event));
      return next.status === 'none' ? null : next;
    },
    // The reference is not unique here: the transaction id, derived from it, is, and `indexable` may make two
    // references equal. A unique index would let one merchant stop everybody's payments.
    columns: {
      channel: 'text not null',
      merchant_code: 'text not null',
      reference: 'text not null',
      status: 'text not null',
      mode: 'text not null',
      amount_sen: 'bigint not null',
      receipt_no: 'text',
      requested_at: 'timestamptz not null',
      paid_at: 'timestamptz',
      updated_at: 'timestamptz not null',
      holds_personal_data: 'boolean not null',
      was_erased: 'boolean not null',
      mac: 'text not null',
    },
    async columnsOf({ id, revision, state, last }, personalData) {
      const { request, receipt } = state;
      return {
        channel: request.channel,
        merchant_code: indexable(request.merchant.code),
        reference: indexable(request.reference),
        status: standingOf(state),
        mode: currentResult(state)?.mode || (state.attempts.at(-1)?.mode ?? ''),
        amount_sen: priceOf(state).amountSen,
        receipt_no: receipt && indexable(receipt.receiptNo),
        requested_at: request.at,
        paid_at: state.status === 'succeeded' ? paidAt(state) : null,
        updated_at: last.created,
        holds_personal_data: isHolding(state.personalData),
        was_erased: state.personalData.erasedAt !== null,
        mac: await macOf({ id, revision, state }, personalData),
      };
    },
    moreTables: [...exceptionTables, payersTable],
    async writeMore(changed, db, personalData) {
      await writePayers(changed, db, personalData);
      await writeExceptions(changed, db);
    },
  }),

  indexes: [
    'payments_by_reference on payments (merchant_code, reference)',
    'payments_by_receipt_no on payments (receipt_no)',
    ...payersIndexes,
    'payments_with_personal_data on payments (updated_at) where holds_personal_data',
    'payments_erased_before on payments (transaction_id) where holds_personal_data and was_erased',
    'payments_by_time on payments (requested_at)',
    'payments_by_paid_at on payments (paid_at) where paid_at is not null',
    ...exceptionIndexes,
  ],
};

/** When the gateway says it was paid, else when it was recorded; null for a year that Postgres cannot store. */
function paidAt(payment: RequestedPayment): Date | null {
  const result = currentResult(payment);
  const time = new Date(result?.paidAt ?? result?.at ?? Number.NaN);
  return time.getUTCFullYear() > 0 ? time : null;
}
