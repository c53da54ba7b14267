/** The outcomes that a payer can choose for an order, and the results that the gateway reports for each. */
import { randomInt } from 'node:crypto';

/** `open` until somebody decides; `unanswered` if the payer closed the window; the others after a result. */
export type OrderState = 'open' | 'unanswered' | 'pending' | 'approved' | 'declined' | 'cancelled';

export const outcomes = [
  'approve',
  'decline',
  'cancel',
  'leave-pending',
  'approve-twice',
  'approve-other-amount',
  'never-answer',
] as const;
export type Outcome = (typeof outcomes)[number];

/** STATUS on the wire. */
export type Status = '0' | '1' | '2' | '3';
export type Charge = Readonly<{ status: Status; amountSen: number; paymentTransId: string }>;

/** The outcomes that are still possible: a pending order waits for its second authoriser, a decided one is final. */
export function outcomesFor(state: OrderState): readonly Outcome[] {
  if (state === 'open' || state === 'unanswered') return outcomes;
  return state === 'pending' ? ['approve', 'decline'] : [];
}

/** The order's next state, and the charges to report, in this order. */
export function consequenceOf(
  outcome: Outcome,
  order: { amountSen: number; paymentTransId: string },
): { state: OrderState; charges: readonly Charge[] } {
  const { amountSen, paymentTransId } = order;
  const charge = (status: Status): Charge => ({ status, amountSen, paymentTransId });
  switch (outcome) {
    case 'approve':
      return { state: 'approved', charges: [charge('1')] };
    case 'decline':
      return { state: 'declined', charges: [charge('0')] };
    case 'cancel':
      return { state: 'cancelled', charges: [charge('2')] };
    case 'leave-pending':
      return { state: 'pending', charges: [charge('3')] };
    case 'approve-twice':
      return {
        state: 'approved',
        charges: [charge('1'), { ...charge('1'), paymentTransId: newPaymentTransId() }],
      };
    case 'approve-other-amount':
      return { state: 'approved', charges: [{ ...charge('1'), amountSen: amountSen + 100 }] };
    case 'never-answer':
      return { state: 'unanswered', charges: [] };
  }
}

/** 16 random digits, as in FPX transaction numbers. The table that stores them refuses a repeat. */
export function newPaymentTransId(): string {
  const eightDigits = () => String(randomInt(100_000_000)).padStart(8, '0');
  return eightDigits() + eightDigits();
}
