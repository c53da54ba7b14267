/** One exception of a payment: what was expected, what was reported, which result stood, and what staff did about it. */
import { Refused } from '../../../commands/decider.ts';
import { endOf, type Head } from '../../../commands/execute.ts';
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
  resolutions,
} from '../../../events/payment.ts';
import type { RecordedEvent } from '../../../eventstore/event-store.ts';
import type { Context } from '../../server/context.ts';
import { staffCause } from '../frame/access-log.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import type { ConsoleRoute } from '../frame/route.ts';
import { readResolution, type TypedResolution } from './resolution-form.ts';
import { kindTexts, paymentResolutionTexts } from './texts.ts';

const path = '/console/exceptions/payment/:transactionId/:resultNo';

export function paymentExceptionRoutes(parts: ConsoleParts): ConsoleRoute[] {
  const { clock, execute, frame } = parts;
  return [
    {
      method: 'get',
      path,
      action: 'look',
      handle: async (ctx) => show(ctx, parts, await find(ctx, parts), nothingTyped),
    },
    {
      method: 'post',
      path,
      action: 'resolve',
      async handle(ctx, staff) {
        const { transactionId, exception, head } = await find(ctx, parts);
        const form = readResolution(ctx, choicesOf(exception));
        const showAgain = async (status: number, problem: string) => {
          ctx.status = status;
          await show(ctx, parts, await find(ctx, parts), { typed: form.typed, problem });
        };
        if ('fault' in form) return showAgain(400, form.fault);
        const { resultNo } = exception;
        const command = {
          type: 'ResolveException',
          at: clock().toISOString(),
          resultNo,
          ...form.said,
        } as const;
        try {
          await execute(paymentStream(transactionId), command, staffCause(ctx, staff), { from: head });
        } catch (error) {
          if (error instanceof Refused) return showAgain(409, error.message);
          throw error;
        }
        frame.done(ctx, ctx.path, 'resolved');
      },
    },
  ];
}

type Found = {
  transactionId: string;
  state: RequestedPayment;
  head: Head<Payment>;
  exception: PaymentException;
  /** That recorded the result, and its place in the stream. */
  recorded: PaymentEvent;
  revision: number;
  /** Who resolved it. */
  resolvedBy: string | null;
};

const notThere = () => new ConsoleProblem(404, 'There is no such exception');

async function find(ctx: Context, { eventStore }: Pick<ConsoleParts, 'eventStore'>): Promise<Found> {
  const { transactionId = '', resultNo = '' } = ctx.params;
  if (!transactionIdPattern.test(transactionId) || !/^[1-9]\d{0,5}$/.test(resultNo)) throw notThere();
  const stored = await eventStore.load(paymentStream(transactionId));
  const { state, revision, recorded } = foldUpTo(stored, Number(resultNo));
  if (state.status === 'none' || !recorded) throw notThere();
  const exception = exceptionsOf(state).find((each) => each.resultNo === Number(resultNo));
  if (!exception) throw notThere();
  const resolvedBy = stored.findLast((event) => isResolutionOf(event, exception.resultNo));
  return {
    transactionId,
    state,
    head: { state, ...endOf(stored) },
    exception,
    recorded,
    revision,
    resolvedBy: resolvedBy ? (resolvedBy.metadata as Metadata).actor : null,
  };
}

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

function choicesOf({ kind }: PaymentException) {
  return holdsMoneyInSuspense(kind) ? resolutions : (['explained'] as const);
}

type Form = { typed: TypedResolution; problem: string | null };
const nothingTyped: Form = { typed: { resolution: '', note: '' }, problem: null };

async function show(
  ctx: Context,
  { frame }: Pick<ConsoleParts, 'frame'>,
  { transactionId, state, exception, recorded, revision, resolvedBy }: Found,
  form: Form,
): Promise<void> {
  const { kind, resolved, resultNo } = exception;
  const standing = currentResult(state);
  const reported = state.results[resultNo - 1];
  const expectedSen = 'expectedSen' in recorded.data ? recorded.data.expectedSen : state.request.amountSen;
  await frame.show(ctx, 'exceptions/payment.njk', {
    title: kindTexts[kind].name,
    meaning: kindTexts[kind].meaning,
    transactionId,
    resultNo,
    merchant: state.request.merchant,
    reference: state.request.reference,
    url: ctx.path,
    evidenceUrl: `/console/payments/${transactionId}/events/${revision}`,
    paymentStatus: state.status,
    expectedSen,
    reported,
    isStanding: reported === standing,
    verified: 'verified' in recorded.data && recorded.data.verified,
    standing,
    resolved: resolved && { ...resolved, ...paymentResolutionTexts[resolved.resolution], by: resolvedBy },
    choices: choicesOf(exception).map((value) => ({ value, ...paymentResolutionTexts[value] })),
    form,
  });
}
