/** /console/exceptions/approval/{id}/{no}: what one member of staff proposed, for another to approve or reject. */
import { chargesOf } from '../../../events/charges.ts';
import { actingFor } from '../frame/page.ts';
import { exceptionForm, loadNumbered, noSuchException } from './exception-page.ts';

export const approval = exceptionForm('approval', async (ctx, dependencies) => {
  const { about, no, payment, resolvedWith } = await loadNumbered(ctx, dependencies);
  const approval = payment.approvals?.find((each) => each.no === no);
  if (!approval) throw noSuchException();
  const { action, by, decided } = approval;
  const isOwn = by === `staff:${ctx.state.staff.id}`;
  return {
    kind: 'approval',
    model: {
      legend: 'Your decision',
      submit: 'Decide',
      ...about,
      ...approval,
      isOwn,
      charge:
        action.kind === 'refund'
          ? chargesOf(payment).find(({ resultNo }) => resultNo === action.chargeNo)
          : null,
    },
    choices: isOwn ? ['rejected'] : ['granted', 'rejected'],
    resolved: decided && { resolution: decided.outcome, at: decided.at, note: decided.note },
    resolvedBy: decided?.by ?? '',
    proposedBy: by,
    ...resolvedWith(({ resolution: outcome, note }) => ({
      type: 'DecideApproval',
      no,
      outcome,
      note,
      ...actingFor(ctx, dependencies, about.merchant),
    })),
  };
});
