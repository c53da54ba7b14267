// Receipts of payments in every state, made by the fold from events as everywhere else.
import { evolve, noPayment, type PaymentEvent } from '../../src/events/payment.ts';
import { type Receipt, receiptOf } from '../../src/receipts/receipt.ts';
import {
  amountSen,
  applied,
  chosen,
  mismatched,
  opened,
  type RequestChanges,
  request,
  result,
  sen,
  succeeded,
} from '../support/payments.ts';

export function receiptAfter(events: readonly PaymentEvent[], over: RequestChanges = {}): Receipt {
  const payment = [{ type: 'PaymentRequested', data: request(over) } as const, ...events].reduce(
    evolve,
    noPayment,
  );
  if (payment.status === 'none') throw new Error('Nothing was requested');
  return receiptOf(opened(payment));
}

export const paid = (over: RequestChanges = {}): Receipt =>
  receiptAfter(
    [chosen(1), succeeded(result(1, 'succeeded', { amountSen: over.amountSen ?? amountSen }))],
    over,
  );

export const unpaid = {
  requested: receiptAfter([]),
  pending: receiptAfter([chosen(1), applied(result(1, 'pending'))]),
  failed: receiptAfter([chosen(1), applied(result(1, 'failed'))]),
  cancelled: receiptAfter([chosen(1), applied(result(1, 'cancelled'))]),
  wrongAmount: receiptAfter([chosen(1), mismatched(result(1, 'succeeded', { amountSen: sen(12_150) }))]),
};
