/** /console/exceptions/approval/{id}/{no}: what one member of staff proposed, for another to approve or reject. */
import { endOf } from '../../../commands/execute.ts';
import { transactionIdPattern } from '../../../commands/transaction-id.ts';
import { chargesOf } from '../../../events/charges.ts';
import { readPaymentEvent } from '../../../events/codec.ts';
import { evolve, noPayment, type Payment, paymentStream } from '../../../events/payment.ts';
import { standingOf } from '../../../events/standing.ts';
import { HttpProblem } from '../../server/context.ts';
import { actingFor } from '../frame/page.ts';
import { texts } from '../texts.ts';
import type { ExceptionSource } from './exception-page.ts';

export const approval: ExceptionSource<'granted' | 'rejected'> = {
  template: 'approval.njk',
  meanings: texts.exceptions.meanings.approval,
  async find(ctx, dependencies) {
    const { eventStore, execute } = dependencies;
    const { transactionId = '', no: text = '' } = ctx.params;
    const no = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 0;
    const stream = paymentStream(transactionId);
    const stored = no > 0 && transactionIdPattern.test(transactionId) ? await eventStore.load(stream) : [];
    const state = stored.map(readPaymentEvent).reduce<Payment>(evolve, noPayment);
    const approval = state.status === 'none' ? null : state.approvals?.find((each) => each.no === no);
    if (state.status === 'none' || !approval) throw new HttpProblem(404, 'There is no such proposal');
    const { action, amountSen, at, by, decided } = approval;
    const { merchant, reference } = state.request;
    const isOwn = by === `staff:${ctx.state.staff.id}`;
    return {
      kind: texts.exceptions.kinds.approval,
      model: {
        url: `/console/exceptions/approval/${transactionId}/${no}`,
        legend: 'Your decision',
        submit: 'Decide',
        transactionId,
        merchant,
        reference,
        paymentStatus: standingOf(state),
        action,
        amountSen,
        at,
        by,
        isOwn,
        charge:
          action.kind === 'refund'
            ? chargesOf(state).find(({ resultNo }) => resultNo === action.chargeNo)
            : null,
        proposed:
          action.kind === 'refund'
            ? { name: 'Refund', meaning: 'The payer gets money back.' }
            : {
                name: texts.exceptions.resolutions[action.resolution],
                meaning: texts.exceptions.meanings.payment[action.resolution],
              },
      },
      choices: isOwn ? ['rejected'] : ['granted', 'rejected'],
      resolved: decided && { resolution: decided.outcome, at: decided.at, note: decided.note },
      resolvedBy: decided?.by ?? '',
      resolve({ resolution: outcome, note }, cause) {
        const command = {
          type: 'DecideApproval',
          no,
          outcome,
          note,
          ...actingFor(ctx, dependencies, merchant),
        } as const;
        return execute(stream, command, cause, { from: { state, ...endOf(stored) } });
      },
    };
  },
};
