/** What staff do with the money of a payment. Above a limit it is only proposed, until a second person approves it. */
import { canonicalJson } from '@ledger/kernel/canonical-json.ts';
import { addSen, type Sen } from '../common/money.ts';
import { adjustedSen } from '../events/adjustments.ts';
import type { StaffAction } from '../events/approvals.ts';
import { chargeContradictedBy } from '../events/charges.ts';
import { exceptionsOf, holdsMoneyInSuspense } from '../events/exceptions.ts';
import type { RequestedPayment } from '../events/payment.ts';
import { type PaymentDecision, Refused } from './decider.ts';
import { resolveException } from './exceptions.ts';
import { type ActionContext, isSameReference, refund } from './refunds.ts';

export type TakeAction = ActionContext & { type: 'TakeAction'; action: StaffAction };

export type DecideApproval = ActionContext & {
  type: 'DecideApproval';
  /** The number of the proposal, counted from 1. */
  no: number;
  outcome: 'granted' | 'rejected';
  note: string;
};

export function takeAction({ action, ...context }: TakeAction, state: RequestedPayment): PaymentDecision {
  const events = eventsOf(action, context, state);
  if (events instanceof Refused || events.length === 0) return events;
  const { at, by, terms } = context;
  const amountSen = atStake(action, state);
  const isEnough =
    terms.approvalAboveSen === null || (amountSen !== null && amountSen <= terms.approvalAboveSen);
  if (isEnough) return events;
  const open = state.approvals?.find((each) => !each.decided && isSameSubject(each.action, action));
  if (!open) return [{ type: 'ApprovalRequested', data: { at, by, amountSen, action } }];
  if (canonicalJson(open.action) === canonicalJson(action)) return [];
  return new Refused('approval_open', 'Something else is proposed here already: it has to be decided first');
}

function eventsOf(action: StaffAction, context: ActionContext, state: RequestedPayment) {
  return action.kind === 'refund' ? refund(action, context, state) : resolveException(action, context, state);
}

/** What the agency or a payer gains or loses, in sen, with earlier refunds and reversals; null if that is not known. */
function atStake(action: StaffAction, state: RequestedPayment): Sen | null {
  const returned = [adjustedSen(state, 'refunded'), adjustedSen(state, 'reversed')];
  if (action.kind === 'refund') return addSen(...returned, action.amountSen);
  const { resolution, resultNo } = action;
  if (resolution === 'reversed') {
    const charge = chargeContradictedBy(state, resultNo);
    return charge && addSen(...returned, charge.leftSen);
  }
  const exception = exceptionsOf(state).find((each) => each.resultNo === resultNo);
  if (!exception || !holdsMoneyInSuspense(exception.kind)) return 0 as Sen;
  return exception.amountSen;
}

function isSameSubject(one: StaffAction, other: StaffAction): boolean {
  if (one.kind === 'refund')
    return other.kind === 'refund' && isSameReference(one.gatewayReference, other.gatewayReference);
  return other.kind === 'resolution' && one.resultNo === other.resultNo;
}

/** What was proposed is decided again: it may no longer fit the payment. The proposer may only withdraw it. */
export function decideApproval(
  { no, outcome, note, ...context }: DecideApproval,
  state: RequestedPayment,
): PaymentDecision {
  const approval = state.approvals?.find((each) => each.no === no);
  if (!approval) return new Refused('unknown_exception', 'This payment has no such proposal');
  const { at, by } = context;
  const { decided } = approval;
  if (decided?.by === by && decided.outcome === outcome && decided.note === note) return [];
  if (decided) return new Refused('approval_decided', 'This proposal is already decided');
  const data = { at, by, no, note };
  if (outcome === 'rejected') return [{ type: 'ApprovalRejected', data }];
  if (approval.by === by)
    return new Refused('own_proposal', 'Somebody else has to approve what you proposed');
  const events = eventsOf(approval.action, { ...context, by: approval.by }, state);
  if (events instanceof Refused)
    return new Refused('proposal_outdated', `This no longer fits the payment: ${events.message}`);
  if (events.length === 0) return new Refused('proposal_outdated', 'This has already been recorded');
  return [{ type: 'ApprovalGranted', data }, ...events];
}
