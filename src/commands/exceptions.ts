/** How staff resolve a payment's exceptions; src/events/exceptions.ts says which it has. */
import { exceptionsOf, holdsMoneyInSuspense } from '../events/exceptions.ts';
import type { Payment, PaymentEvent } from '../events/payment.ts';
import { postingRule } from '../events/postings.ts';
import type { Resolution } from '../events/recorded-result.ts';
import { Refused } from './decider.ts';
import { announcement } from './planned-deliveries.ts';

export type ResolveException = {
  type: 'ResolveException';
  at: string;
  /** The number of the payment's recorded result, counted from 1. */
  resultNo: number;
  resolution: Resolution;
  note: string;
};

export function resolveException(
  { at, resultNo, resolution, note }: ResolveException,
  state: Payment,
): readonly PaymentEvent[] | Refused {
  if (state.status === 'none') return new Refused('unknown_payment', 'Payment not found');
  const exception = exceptionsOf(state).find((each) => each.resultNo === resultNo);
  if (!exception) return new Refused('unknown_exception', 'This payment has no such exception');
  const { resolved, kind } = exception;
  if (resolved?.resolution === resolution && resolved.note === note) return [];
  if (resolved) return new Refused('exception_resolved', 'This exception is already resolved');
  if (resolution !== 'explained' && !holdsMoneyInSuspense(kind))
    return new Refused(
      'no_money_in_suspense',
      'There is no money in suspense here: it can only be explained',
    );
  const told = kind === 'amountMismatch' ? announcement(state) : {};
  return [{ type: 'ExceptionResolved', data: { at, resultNo, resolution, note, postingRule, ...told } }];
}
