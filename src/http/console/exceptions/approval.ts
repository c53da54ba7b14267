/** /console/exceptions/approval/{id}/{no}: what one member of staff proposed, for another to approve or reject. */
import { chargesOf } from '../../../events/charges.ts';
import { standingOf } from '../../../events/standing.ts';
import { HttpProblem } from '../../server/context.ts';
import { actingFor } from '../frame/page.ts';
import { texts } from '../texts.ts';
import { type ExceptionSource, loadNumbered } from './exception-page.ts';

export const approval: ExceptionSource<'granted' | 'rejected'> = {
  template: 'approval.njk',
  meanings: texts.exceptions.meanings.approval,
  async find(ctx, dependencies) {
    const { transactionId, no, stream, head } = await loadNumbered(ctx, dependencies);
    const { state } = head;
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
        return dependencies.execute(stream, command, cause, { from: head });
      },
    };
  },
};
