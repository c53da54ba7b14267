/** What the payer (or whoever tries things out) can make of an order, and which results the gateway reports for it. */
import { randomInt } from 'node:crypto';

/** `open` until somebody decides; `unanswered` when the payer closed the window; the rest after a result. */
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

/** What may still become of an order: a pending one waits only for its second authoriser; a decided one is done. */
export function outcomesFor(state: OrderState): readonly Outcome[] {
  if (state === 'open' || state === 'unanswered') return outcomes;
  return state === 'pending' ? ['approve', 'decline'] : [];
}

/** The order's next state and what is reported for it, in order. */
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

/** 16 digits, as FPX numbers its transactions. Random: the table that holds them refuses a repeat. */
export function newPaymentTransId(): string {
  const eightDigits = () => String(randomInt(100_000_000)).padStart(8, '0');
  return eightDigits() + eightDigits();
}
