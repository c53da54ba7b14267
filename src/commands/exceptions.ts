/** How staff resolve a payment's exceptions; src/events/exceptions.ts says which it has. */
import { addSen, type Sen } from '../common/money.ts';
import { outstandingSen } from '../events/adjustments.ts';
import type { ResolutionAction } from '../events/approvals.ts';
import { chargeContradictedBy } from '../events/charges.ts';
import { creditableSen, exceptionsOf, resolutionsFor } from '../events/exceptions.ts';
import type { PaymentEvent, RequestedPayment } from '../events/payment.ts';
import { postingRule } from '../events/postings.ts';
import { type PaymentDecision, Refused } from './decider.ts';
import { receiptNoFor } from './payment-result.ts';
import { announcement, callbackAbout, deliveriesFor } from './planned-deliveries.ts';
import { type ActionContext, returned } from './refunds.ts';

export function resolveException(
  chosen: ResolutionAction,
  context: ActionContext,
  state: RequestedPayment,
): PaymentDecision {
  const { note, resolution, resultNo } = chosen;
  const exception = exceptionsOf(state).find((each) => each.resultNo === resultNo);
  if (!exception) return new Refused('unknown_exception', 'This payment has no such exception');
  const { resolved, kind } = exception;
  if (resolved?.resolution === resolution && resolved.note === note) return [];
  if (resolved) return new Refused('exception_resolved', 'This exception is already resolved');
  if (!resolutionsFor(state, exception).includes(resolution))
    return new Refused('no_money_in_suspense', refusals[resolution]);
  if (resolution === 'reversed') return reverse(chosen, context, state);
  if (resolution === 'credited' && kind === 'amountMismatch') return credit(chosen, context, state);
  const told = kind === 'amountMismatch' ? announcement(state) : {};
  const data = { at: context.at, resultNo, resolution, note, postingRule, ...told };
  return [{ type: 'ExceptionResolved', data }];
}

const noMoney = 'There is no money in suspense here: it can only be explained';
const refusals = {
  refunded: noMoney,
  explained: noMoney,
  credited:
    'Only a readable amount in ringgit can be credited, and to the land registry only one that covers all items',
  reversed: 'This result is not about a charge that the bank could have taken back',
} as const;

/** Pays the payment with what was received, or a part of it if the merchant accepts part payments. */
function credit(
  { note, resultNo }: ResolutionAction,
  { at, by, terms }: ActionContext,
  state: RequestedPayment,
): PaymentEvent[] {
  const result = state.results[resultNo - 1];
  const amountSen = creditableSen(state, resultNo);
  if (!result || amountSen === null) throw new Error('The caller has checked that it can be credited');
  const isPart = terms.takesParts && amountSen < outstandingSen(state);
  const effect = state.status === 'succeeded' ? 'nothing' : isPart ? 'partlyPaid' : 'paid';
  const told = {
    paid: deliveriesFor(state, 'succeeded'),
    partlyPaid: [
      ...callbackAbout(state, 'partlyPaid', terms.toldOf),
      ...deliveriesFor(state, 'wrongAmount').filter(({ kind }) => kind === 'email'),
    ],
    nothing: [],
  };
  const data = {
    at,
    by,
    resultNo,
    note,
    amountSen,
    effect,
    paidSen: addSen(state.paidSen ?? (0 as Sen), amountSen),
    paidAt: result.paidAt ?? result.at,
    receiptNo: effect === 'paid' ? receiptNoFor({ at, result }, state) : '',
    postingRule,
    merchantCode: state.request.merchant.code,
    deliveries: told[effect],
  } as const;
  return [{ type: 'AmountMismatchCredited', data }];
}

/** The bank has taken back what has not been refunded of the charge. */
function reverse(
  { note, resultNo }: ResolutionAction,
  context: ActionContext,
  state: RequestedPayment,
): PaymentEvent[] {
  const charge = chargeContradictedBy(state, resultNo);
  if (!charge) throw new Error('The caller has checked that there is a charge');
  const data = { ...returned('reversed', charge, charge.leftSen, context, state), resultNo, note };
  return [{ type: 'PaymentReversed', data }];
}
