/**
 * One row per payment: the state that its events fold to, and the columns by which payments are found. What the state
 * leaves for staff goes into the table of exceptions, and how its payer is found into that of payers.
 */
import { isHolding } from '@ledger/personal-data/sealed.ts';
import { indexable } from '@ledger/postgres/table.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import { streamProjection } from '@ledger/projections/runtime/stream-projection.ts';
import tables from '../../../content/tables/payments.json' with { type: 'json' };
import { priceOf } from '../../events/charges.ts';
import {
  currentResult,
  evolve,
  noPayment,
  paymentFold,
  type RequestedPayment,
  requestedIn,
} from '../../events/payment.ts';
import { isEnded, type Standing, standingOf } from '../../events/payment-standing.ts';
import { openAttempts } from '../../events/requery-schedule.ts';
import { writeExceptions } from '../exceptions/write.ts';
import { writePayers } from './payers.ts';
import { macOf } from './row-mac.ts';
import { searchKeysOf } from './search-keys.ts';

export const payments: Projection = streamProjection({
  name: 'payments',
  version: 18,
  fold: {
    ...paymentFold,
    evolve: (state: RequestedPayment | null, event) => requestedIn(evolve(state ?? noPayment, event)),
  },
  idColumn: 'transaction_id',
  table: tables.payments,
  async columnsOf({ id, revision, state, last }, personalData) {
    const { request, receipt } = state;
    return {
      channel: request.channel,
      merchant_code: indexable(request.merchant.code),
      reference: indexable(request.reference),
      status: standingOf(state),
      mode: currentResult(state)?.mode || (state.attempts.at(-1)?.mode ?? ''),
      amount_sen: priceOf(state).amountSen,
      keys: searchKeysOf(id, state),
      expires_at: canExpire(state) ? request.expiresAt : null,
      receipt_no: receipt && indexable(receipt.receiptNo),
      requested_at: request.at,
      paid_at: state.status === 'succeeded' ? paidAt(state) : null,
      updated_at: last.created,
      holds_personal_data: isHolding(state.personalData),
      was_erased: state.personalData.erasedAt !== null,
      mac: await macOf({ id, revision, state }, personalData),
    };
  },
  moreTables: [tables.exceptions, tables.payers],
  async writeMore(changed, db, personalData) {
    await writePayers(changed, db, personalData);
    await writeExceptions(changed, db);
  },
});

/** The states in which a payment expires. */
const unpaid: readonly Standing[] = ['requested', 'failed', 'cancelled'];

/** False while an attempt is open: its end brings another event, and until then the payment would be loaded in vain. */
function canExpire(payment: RequestedPayment): boolean {
  return unpaid.includes(standingOf(payment)) && !isEnded(payment) && openAttempts(payment).length === 0;
}

/** When the gateway says it was paid, else when it was recorded; null for a year that Postgres cannot store. */
function paidAt(payment: RequestedPayment): Date | null {
  const result = currentResult(payment);
  const time = new Date(result?.paidAt ?? result?.at ?? Number.NaN);
  return time.getUTCFullYear() > 0 ? time : null;
}
