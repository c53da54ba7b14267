/** /console/exceptions/payment/{id}/{resultNo}: what was expected of a payment, what was reported, which result counts. */
import { transactionIdPattern } from '../../../commands/transaction-id.ts';
import { readPaymentEvent } from '../../../events/codec.ts';
import type { Metadata } from '../../../events/envelope.ts';
import { exceptionsOf, holdsMoneyInSuspense, type PaymentException } from '../../../events/exceptions.ts';
import {
  currentResult,
  evolve,
  noPayment,
  type Payment,
  type PaymentEvent,
  paymentStream,
  type RequestedPayment,
  type Resolution,
  resolutions,
} from '../../../events/payment.ts';
import type { RecordedEvent } from '../../../eventstore/event-store.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import { exceptionPage } from './exception-page.ts';
import { kindTexts, paymentResolutions } from './texts.ts';

type Found = {
  state: RequestedPayment;
  exception: PaymentException;
  /** The event that recorded the result, and its place in the stream. */
  recorded: PaymentEvent;
  revision: number;
  resolvedBy: string;
};

export const { showOne: showPaymentException, resolveOne: resolvePaymentException } = exceptionPage<
  Found,
  Resolution
>({
  template: 'payment.njk',
  meanings: paymentResolutions,
  choices: ({ exception }) => (holdsMoneyInSuspense(exception.kind) ? resolutions : ['explained']),
  resolved: ({ exception: { resolved }, resolvedBy }) => resolved && { ...resolved, by: resolvedBy },

  async find(ctx, { eventStore }) {
    const { transactionId = '', resultNo: text = '' } = ctx.params;
    const resultNo = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 0;
    const isId = resultNo > 0 && transactionIdPattern.test(transactionId);
    const stored = isId ? await eventStore.load(paymentStream(transactionId)) : [];
    const { state, revision, recorded } = foldUpTo(stored, resultNo);
    const exceptions = state.status === 'none' ? [] : exceptionsOf(state);
    const exception = exceptions.find((each) => each.resultNo === resultNo);
    if (state.status === 'none' || !recorded || !exception)
      throw new ConsoleProblem(404, 'There is no such exception');
    const resolution = stored.findLast((event) => isResolutionOf(event, resultNo));
    const resolvedBy = (resolution?.metadata as Metadata | undefined)?.actor ?? '';
    return { state, exception, recorded, revision, resolvedBy };
  },

  model({ state, exception: { kind, resultNo }, recorded, revision }) {
    const { amountSen, merchant, reference, transactionId } = state.request;
    const current = currentResult(state);
    const reported = state.results[resultNo - 1];
    return {
      title: kindTexts[kind].name,
      meaning: kindTexts[kind].meaning,
      url: `/console/exceptions/payment/${transactionId}/${resultNo}`,
      transactionId,
      merchant,
      reference,
      evidenceUrl: `/console/payments/${transactionId}/events/${revision}`,
      paymentStatus: state.status,
      expectedSen: 'expectedSen' in recorded.data ? recorded.data.expectedSen : amountSen,
      reported,
      isCurrent: reported === current,
      verified: 'verified' in recorded.data && recorded.data.verified,
      current,
    };
  },

  resolve({ state, exception: { resultNo } }, what, { execute }, cause) {
    const command = { type: 'ResolveException', resultNo, ...what } as const;
    return execute(paymentStream(state.request.transactionId), command, cause);
  },
});

/** The whole payment, and the event that recorded its result of that number. */
function foldUpTo(stored: readonly RecordedEvent[], resultNo: number) {
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
  return { state, revision, recorded };
}

const countResults = (state: Payment) => (state.status === 'none' ? 0 : state.results.length);

function isResolutionOf(stored: RecordedEvent, resultNo: number): boolean {
  if (stored.type !== 'ExceptionResolved') return false;
  const { data } = readPaymentEvent(stored);
  return 'resultNo' in data && data.resultNo === resultNo;
}
