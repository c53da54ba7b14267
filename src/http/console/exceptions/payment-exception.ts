/** /console/exceptions/payment/{id}/{resultNo}: what was expected of a payment, what was reported, which result counts. */
import { readPaymentEvent } from '../../../events/codec.ts';
import { actorOf } from '../../../events/envelope.ts';
import { exceptionsOf, resolutionsFor } from '../../../events/exceptions.ts';
import {
  currentResult,
  evolve,
  noPayment,
  type Payment,
  type PaymentEvent,
} from '../../../events/payment.ts';
import type { ExceptionResolution } from '../../../events/recorded-result.ts';
import { standingOf } from '../../../events/standing.ts';
import type { RecordedEvent } from '../../../eventstore/event-store.ts';
import { HttpProblem } from '../../server/context.ts';
import { actingFor } from '../frame/page.ts';
import { texts } from '../texts.ts';
import { type ExceptionSource, loadNumbered } from './exception-page.ts';

export const paymentException: ExceptionSource<ExceptionResolution> = {
  template: 'payment.njk',
  meanings: texts.exceptions.meanings.payment,
  async find(ctx, dependencies) {
    const { transactionId, no: resultNo, stream, stored, head } = await loadNumbered(ctx, dependencies);
    const { state } = head;
    const { revision, recorded } = findRecorded(stored, resultNo);
    const exceptions = state.status === 'none' ? [] : exceptionsOf(state);
    const exception = exceptions.find((each) => each.resultNo === resultNo);
    if (state.status === 'none' || !recorded || !exception)
      throw new HttpProblem(404, 'There is no such exception');
    const { kind } = exception;
    const { amountSen, merchant, reference } = state.request;
    const current = currentResult(state);
    const reported = state.results[resultNo - 1];
    const resolution = stored.findLast((event) => isResolutionOf(event, resultNo));
    return {
      kind: texts.exceptions.kinds[kind],
      model: {
        url: `/console/exceptions/payment/${transactionId}/${resultNo}`,
        transactionId,
        merchant,
        reference,
        evidenceUrl: `/console/payments/${transactionId}/events/${revision}`,
        paymentStatus: standingOf(state),
        expectedSen: 'expectedSen' in recorded.data ? recorded.data.expectedSen : amountSen,
        reported,
        isCurrent: reported === current,
        verified: 'verified' in recorded.data && recorded.data.verified,
        current,
        approval: state.approvals?.find(
          ({ action, decided }) =>
            decided === null && action.kind === 'resolution' && action.resultNo === resultNo,
        ),
      },
      choices: resolutionsFor(state, exception),
      resolved: exception.resolved,
      resolvedBy: actorOf(resolution),
      resolve({ note, resolution }, cause) {
        if (resolution === 'superseded') throw new Error('Nobody is offered this choice');
        const action = { kind: 'resolution', resultNo, resolution, note } as const;
        const command = { type: 'TakeAction', action, ...actingFor(ctx, dependencies, merchant) } as const;
        return dependencies.execute(stream, command, cause, { from: head });
      },
    };
  },
};

/** The event that recorded the result of that number. */
function findRecorded(stored: readonly RecordedEvent[], resultNo: number) {
  let state: Payment = noPayment;
  let recorded: PaymentEvent | null = null;
  let revision = -1;
  for (const [index, event] of stored.map(readPaymentEvent).entries()) {
    const before = countResults(state);
    state = evolve(state, event);
    if (before < resultNo && countResults(state) === resultNo) {
      recorded = event;
      revision = index;
    }
  }
  return { revision, recorded };
}

const countResults = (state: Payment) => (state.status === 'none' ? 0 : state.results.length);

const settling = new Set(['ExceptionResolved', 'AmountMismatchCredited', 'PaymentReversed']);

function isResolutionOf(stored: RecordedEvent, resultNo: number): boolean {
  if (!settling.has(stored.type)) return false;
  const { data } = readPaymentEvent(stored);
  return 'resultNo' in data && data.resultNo === resultNo;
}
