/**
 * The rules by which schema version 1 derived what later versions write into the event. Nothing here ever changes: the
 * state of every payment that has such events depends on it. If `decide` is to follow another rule, write that in
 * src/commands.
 */
import type { PaymentMode } from '../common/payment-modes.ts';
import type { PlannedDelivery } from './deliveries.ts';

/** The part of a payment that determines which seller order a result is about. */
export type AttemptedPayment = {
  attempts: readonly { mode: PaymentMode; sellerOrderNo: string }[];
  results: readonly { sellerOrderNo: string; gatewayTransactionId: string }[];
};

/**
 * The seller order that a result is about: the one it names. The registry's records name none: then that of an earlier
 * result of the same gateway transaction, else that of the latest attempt by the method it names, else that of the
 * latest attempt; `''` before the first attempt.
 */
export function orderByRule1(
  payment: AttemptedPayment,
  result: { sellerOrderNo: string; gatewayTransactionId: string; mode: PaymentMode | '' },
): string {
  if (result.sellerOrderNo !== '') return result.sellerOrderNo;
  const known = payment.results.find(
    ({ gatewayTransactionId: id }) => id !== '' && id === result.gatewayTransactionId,
  );
  const attempt = payment.attempts.findLast(({ mode }) => mode === result.mode) ?? payment.attempts.at(-1);
  return known?.sellerOrderNo ?? attempt?.sellerOrderNo ?? '';
}

type Changed = {
  request: { channel: string; callbackUrl: string; items: readonly unknown[]; emailReceipt: boolean };
  /** The status that the result left. */
  status: string;
};

/** What the status change with this number, counted from 1, sets in motion. */
export function deliveriesByRule1({ request, status }: Changed, change: number): PlannedDelivery[] {
  const planned: PlannedDelivery[] = [];
  if (request.callbackUrl !== '')
    planned.push({ key: `callback-${change}`, kind: 'callback', url: request.callbackUrl });
  if (status === 'succeeded' && request.channel === 'landreg')
    for (const item of request.items.keys())
      planned.push({ key: `item-${String(item + 1).padStart(2, '0')}`, kind: 'item', item: item + 1 });
  if (status === 'succeeded' && request.emailReceipt) planned.push({ key: 'email', kind: 'email' });
  return planned;
}
