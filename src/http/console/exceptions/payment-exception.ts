/** /console/exceptions/payment/{id}/{resultNo}: what was expected of a payment, what was reported, which result counts. */
import { exceptionsOf, resolutionsFor } from '../../../events/exceptions.ts';
import { currentResult, type PaymentEvent, requestedIn } from '../../../events/payment.ts';
import { actingFor } from '../frame/page.ts';
import { exceptionForm, loadNumbered, noSuchException } from './exception-page.ts';

export const paymentException = exceptionForm('payment', async (ctx, dependencies) => {
  const numbered = await loadNumbered(ctx, dependencies);
  const { about, entries, events, no: resultNo, payment, resolvedWith } = numbered;
  const exception = exceptionsOf(payment).find((each) => each.resultNo === resultNo);
  const revision = entries.findIndex(({ state }) => (requestedIn(state)?.results.length ?? 0) >= resultNo);
  const recorded = events[revision];
  if (!recorded || !exception) throw noSuchException();
  const { amountSen, merchant } = payment.request;
  const current = currentResult(payment);
  const reported = payment.results[resultNo - 1];
  const resolution = entries[events.findLastIndex((event) => isResolutionOf(event, resultNo))];
  return {
    kind: exception.kind,
    model: {
      ...about,
      evidenceUrl: `/console/payments/${about.transactionId}/events/${revision}`,
      expectedSen: 'expectedSen' in recorded.data ? recorded.data.expectedSen : amountSen,
      reported,
      isCurrent: reported === current,
      verified: 'verified' in recorded.data && recorded.data.verified,
      current,
      approval: payment.approvals?.find(
        ({ action, decided }) =>
          decided === null && action.kind === 'resolution' && action.resultNo === resultNo,
      ),
    },
    choices: resolutionsFor(payment, exception),
    resolved: exception.resolved,
    resolvedBy: resolution?.actor ?? '',
    ...resolvedWith(({ note, resolution }) => {
      if (resolution === 'superseded') throw new Error('Nobody is offered this choice');
      const action = { kind: 'resolution', resultNo, resolution, note } as const;
      return { type: 'TakeAction', action, ...actingFor(ctx, dependencies, merchant) };
    }),
  };
});

const settling = new Set(['ExceptionResolved', 'AmountMismatchCredited', 'PaymentReversed']);

const isResolutionOf = (event: PaymentEvent | null, resultNo: number) =>
  event !== null && settling.has(event.type) && 'resultNo' in event.data && event.data.resultNo === resultNo;
