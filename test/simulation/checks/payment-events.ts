/** What must hold of an event of a payment that staff or its merchant have caused. */
import type { Payment, PaymentEvent } from '../../../src/events/payment.ts';
import { unknownOutcomesOf } from '../../../src/events/unknown-attempt-outcomes.ts';
import type { Report } from '../violations.ts';
import type { Bank } from '../world/bank.ts';

/** `state` is what the event has made of what was `before`. */
type Change = { id: string; event: PaymentEvent; before: Payment; state: Payment; chargedSen: number };

export function createEventCheck({ bank, report }: { bank: Bank; report: Report }) {
  function checkStaff({ id, event, before, state, chargedSen }: Change): void {
    if (before.status === 'none' || state.status === 'none') return;
    if (event.type === 'ApprovalGranted') {
      const proposal = before.approvals?.find(({ no }) => no === event.data.no);
      if (!proposal || proposal.decided || proposal.by === event.data.by)
        report('decided-alone', id, `${event.data.by} approved what ${proposal?.by} proposed`);
    }
    if (event.type !== 'PaymentRefunded') return;
    const refunds = (state.adjustments ?? []).filter(({ kind }) => kind === 'refunded');
    const refundedSen = refunds.reduce((sum, { amountSen }) => sum + amountSen, 0);
    if (refundedSen > chargedSen && !bank.misreported.has(id))
      report(
        'refunded-twice',
        id,
        `${refundedSen} sen were refunded, and the bank has charged ${chargedSen}`,
      );
  }

  function checkWithdrawal({ id, event, before }: Change): void {
    if (event.type !== 'PaymentMethodChosen' || before.status === 'none') return;
    const { expiresAt } = before.request;
    if (expiresAt !== undefined && expiresAt <= event.data.at)
      report('withdrawn-paid', id, `An attempt began at ${event.data.at}; it had expired at ${expiresAt}`);
    if (before.results.some(({ source }) => source === 'merchant' || source === 'expiry'))
      report('withdrawn-paid', id, 'An attempt began after it had been cancelled');
  }

  function checkVerdict({ id, event, before }: Change): void {
    const { data } = event;
    if (!('source' in data) || data.source !== 'staff' || before.status === 'none') return;
    const orderNo = 'orderNo' in data ? data.orderNo : data.sellerOrderNo;
    const isAsked = unknownOutcomesOf(before).some((each) => each.orderNo === orderNo && !each.settled);
    if (!isAsked) report('verdict-unasked', id, `${event.type} on ${orderNo}`);
  }

  return (change: Change): void => {
    checkStaff(change);
    checkWithdrawal(change);
    checkVerdict(change);
  };
}
