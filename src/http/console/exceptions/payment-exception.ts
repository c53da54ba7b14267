/** /console/exceptions/payment/{id}/{resultNo}: what was expected of a payment, what was reported, which result counts. */
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import { readPaymentEvent } from '../../../events/codec.ts';
import { actorOf } from '../../../events/envelope.ts';
import { exceptionsOf, resolutionsFor } from '../../../events/exceptions.ts';
import { currentResult } from '../../../events/payment.ts';
import type { ExceptionResolution } from '../../../events/recorded-result.ts';
import { actingFor } from '../frame/page.ts';
import { type ExceptionSource, loadNumbered, noSuchException } from './exception-page.ts';

export const paymentException: ExceptionSource<ExceptionResolution> = {
  template: 'payment.njk',
  meanings: ({ payment }) => payment,
  async find(ctx, dependencies) {
    const numbered = await loadNumbered(ctx, dependencies);
    const { about, no: resultNo, payment, resolvedWith, states, stored } = numbered;
    const exception = exceptionsOf(payment).find((each) => each.resultNo === resultNo);
    const recordedIn = stored[states.findIndex(({ results }) => results.length >= resultNo)];
    if (!recordedIn || !exception) throw noSuchException();
    const recorded = readPaymentEvent(recordedIn);
    const { amountSen, merchant } = payment.request;
    const current = currentResult(payment);
    const reported = payment.results[resultNo - 1];
    const resolution = stored.findLast((event) => isResolutionOf(event, resultNo));
    return {
      kind: exception.kind,
      model: {
        ...about,
        evidenceUrl: `/console/payments/${about.transactionId}/events/${recordedIn.revision}`,
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
      resolvedBy: actorOf(resolution),
      ...resolvedWith(({ note, resolution }) => {
        if (resolution === 'superseded') throw new Error('Nobody is offered this choice');
        const action = { kind: 'resolution', resultNo, resolution, note } as const;
        return { type: 'TakeAction', action, ...actingFor(ctx, dependencies, merchant) };
      }),
    };
  },
};

const settling = new Set(['ExceptionResolved', 'AmountMismatchCredited', 'PaymentReversed']);

function isResolutionOf(stored: RecordedEvent, resultNo: number): boolean {
  if (!settling.has(stored.type)) return false;
  const { data } = readPaymentEvent(stored);
  return 'resultNo' in data && data.resultNo === resultNo;
}
