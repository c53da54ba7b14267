/** Which recorded successes report the same money as a new one: content/docs/payment-states.md has the rules. */
import type { PaymentEvent, RequestedPayment } from '../events/payment.ts';
import type { PaymentResult, Source } from '../events/payment-result.ts';
import { differ, isSameAmount, type RecordedResult, wasTakenOut } from '../events/recorded-result.ts';

type Report = { source: Source; result: PaymentResult };

/** With its number among the payment's recorded results, counted from 1. */
export type RecordedSuccess = RecordedResult & { resultNo: number };

/**
 * The recorded successes of this money and amount, the most certain first; none if the result is new. Superseded ones
 * come last, because another success has their money in the books. They and contradictions do not count alone: then that
 * other success has turned out to be of other money.
 */
export function sameSuccesses(state: RequestedPayment, report: Report): RecordedSuccess[] {
  const same = successesOf(state)
    .map((success) => ({ ...success, certainty: certaintyOf(success, report) }))
    .filter((success) => success.certainty > 0 && isSameAmount(success, report.result))
    .toSorted((a, b) => Number(isSuperseded(a)) - Number(isSuperseded(b)) || b.certainty - a.certainty);
  const known = [...same, ...successesOfTransaction(state, report.result)];
  return known.every((each) => each.role === 'contradiction' || isSuperseded(each)) ? [] : same;
}

export function successesOfTransaction(state: RequestedPayment, result: PaymentResult): RecordedSuccess[] {
  const id = result.gatewayTransactionId;
  return successesOf(state).filter(
    (success) => id !== '' && success.gatewayTransactionId === id && !isOfAnotherOrder(success, result),
  );
}

/** Whether a report names another order for a transaction than the one that was inferred from other reports. */
function isOfAnotherOrder(success: RecordedResult, { sellerOrderNo }: PaymentResult): boolean {
  const isOpen = success.isPairInferred === true && isInBooks(success);
  return isOpen && differ(success.sellerOrderNo, sellerOrderNo);
}

/**
 * Reports that name either an order or a transaction are taken for one charge where they can be. If a report of the same
 * amount names both, and they belong to different charges so far, the transactions are exchanged: so the books have a new
 * charge only where there are more orders or more transactions than charges.
 */
export function correctPairs(
  { at, source, result }: { at: string } & Report,
  state: RequestedPayment,
): PaymentEvent[] {
  const { gatewayTransactionId: id, sellerOrderNo: orderNo } = result;
  if (result.outcome !== 'succeeded' || id === '' || orderNo === '') return [];
  const successes = successesOf(state).filter((each) => isSameAmount(each, result) && isInBooks(each));
  const ofTransaction = successes.find(({ gatewayTransactionId }) => gatewayTransactionId === id);
  if (ofTransaction && !isOfAnotherOrder(ofTransaction, result)) return [];
  const taker =
    successes.find((each) => each.isPairInferred && each.sellerOrderNo === orderNo) ??
    (ofTransaction && successes.find((each) => each.isOrderInferred && each.gatewayTransactionId !== ''));
  const giver =
    ofTransaction ?? successes.find((each) => !each.isOrderInferred && each.gatewayTransactionId === '');
  if (!taker || !giver) return [];
  const exchange = [
    { resultNo: taker.resultNo, gatewayTransactionId: id, sellerOrderNo: orderNo },
    { resultNo: giver.resultNo, gatewayTransactionId: taker.gatewayTransactionId, sellerOrderNo: '' },
  ];
  return exchange.map((named) => ({ type: 'GatewayResultIdentified', data: { at, source, ...named } }));
}

function successesOf({ results }: RequestedPayment): RecordedSuccess[] {
  return results
    .map((recorded, index) => ({ ...recorded, resultNo: index + 1 }))
    .filter(({ outcome }) => outcome === 'succeeded');
}

/**
 * 0 if they are different money. If both name a gateway transaction, that decides. Otherwise they are the same money
 * unless both name an order or a receipt number, and these differ. The registry may write receipt numbers in another form.
 */
function certaintyOf(earlier: RecordedResult, { source, result }: Report): 0 | 1 | 2 | 3 {
  if (isOfAnotherOrder(earlier, result)) return 0;
  const [one, other] = [earlier.gatewayTransactionId, result.gatewayTransactionId];
  if (one !== '' && other !== '') return one === other ? 3 : 0;
  const isOneForm = (earlier.source === 'requery') === (source === 'requery');
  if (isOneForm && differ(earlier.receiptNo, result.receiptNo)) return 0;
  const named = earlier.isOrderInferred ? '' : earlier.sellerOrderNo;
  if (named !== '' && result.sellerOrderNo !== '') return named === result.sellerOrderNo ? 2 : 0;
  // A superseded success has its money in another one; and what staff have explained away is not what a report names.
  const namesNothing = other === '' && result.sellerOrderNo === '';
  return (namesNothing ? isSuperseded : wasTakenOut)(earlier) ? 0 : 1;
}

const isSuperseded = ({ resolved }: RecordedResult) => resolved?.resolution === 'superseded';

/**
 * Whether a later report of the same money supersedes it: its money is in suspense, or was credited from there without
 * effect on the payment, as in earlier versions.
 */
export function isOpenMismatch({ credited, resolved, role }: RecordedResult): boolean {
  const isCredited = resolved?.resolution === 'credited' && credited === undefined;
  return role === 'amountMismatch' && (resolved === null || isCredited);
}

/**
 * Whether a new report of the same money is about what staff have already settled: it pays nothing, even if it is now what
 * is outstanding. Money of an inferred order may have been explained because that order was the wrong one.
 */
export function wasSettled(
  { gatewayTransactionId, isOrderInferred, resolved, sellerOrderNo }: RecordedResult,
  { gatewayTransactionId: id, sellerOrderNo: orderNo }: PaymentResult,
): boolean {
  const isOfTransaction = id !== '' && gatewayTransactionId === id;
  const isOfOrder = !isOrderInferred && orderNo !== '' && sellerOrderNo === orderNo;
  if (!isOfTransaction && !isOfOrder) return false;
  return resolved?.resolution === 'refunded' || (resolved?.resolution === 'explained' && !isOrderInferred);
}

/** Whether the books have its money as a payment or a duplicate, for good. */
export function isBooked({ credited, role }: RecordedResult): boolean {
  return role === 'applied' || role === 'duplicate' || credited !== undefined;
}

/** Whether the books have its money, also in suspense. */
export function isInBooks(success: RecordedResult): boolean {
  return isBooked(success) || isOpenMismatch(success);
}

/** Whether staff have been told already that a report of this money contradicts another by naming this order. */
export function isContradictionAbout(orderNo: string) {
  return ({ role, sellerOrderNo }: RecordedResult): boolean =>
    role === 'contradiction' && sellerOrderNo === orderNo;
}
