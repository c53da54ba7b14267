/** What the transaction registry's answer does to a payment, or its failure to answer. */
import {
  type Channel,
  evolve,
  type Payment,
  type PaymentEvent,
  type RequestedPayment,
} from '../events/payment.ts';
import type { PaymentResult, RegistryAnswer, RegistryFault } from '../events/payment-result.ts';
import { differ } from '../events/recorded-result.ts';
import type { CountedAnswers } from '../events/requery.ts';
import { attemptsAtTheirEnd, openAttempts, openPendings } from '../events/requery-schedule.ts';
import { Refused } from './decider.ts';
import {
  isPaymentOf,
  type RecordGatewayResult,
  recorded,
  recordGatewayResult,
  setInMotion,
} from './payment-result.ts';
import { sellerOrderOf } from './same-attempt.ts';

export type RecordRequery = {
  type: 'RecordRequery';
  at: string;
  channel: Channel;
  merchantCode: string;
  /** Null records only what has been counted. */
  answer: RegistryAnswer | { fault: RegistryFault } | null;
  /** What has been counted since the last question that was recorded; 'none' where nothing can be counted at present. */
  counted: CountedAnswers | null | 'none';
};

/** Where nothing can be counted, the same answer is recorded once within this time. */
const sameAnswerMs = 60_000;

/**
 * Each result in the answer is decided like one from the gateway, and each other failure ends its attempt. An attempt
 * that is asked about for the last time and stays open is left to staff. Returns `[]` if the answer is the same as the
 * last one: it is then counted (record-requery.ts).
 */
export function recordRequery(command: RecordRequery, state: Payment): readonly PaymentEvent[] | Refused {
  if (!isPaymentOf(command, state)) return new Refused('unmatched_result', 'No such transaction');
  const { at, answer } = command;
  const earlier = unrecorded(command, state);
  if (answer === null) return earlier ? [repeated(earlier)] : [];

  const status = 'fault' in answer ? answer.fault : answer.status;
  const isRepeat = status === (earlier?.status ?? state.lastRequery?.status);
  const decided = 'fault' in answer ? [] : decide(command, answer.results, state);
  if (decided instanceof Refused) return decided;
  const ended = 'fault' in answer ? [] : endAttempts(command, answer, fold(state, decided));
  const unknown = attemptsAtTheirEnd(fold(state, [...decided, ...ended]), at).map(
    ({ sellerOrderNo }): PaymentEvent => ({
      type: 'AttemptOutcomeUnknown',
      data: { at, orderNo: sellerOrderNo },
    }),
  );
  const changes = [...decided, ...ended, ...unknown];
  if (isRepeat && changes.length === 0 && isCounted(command, state)) return [];
  // A result that sets the status, or goes to staff, is the answer.
  if (decided.some(({ type }) => type !== 'AttemptEnded'))
    return [...(earlier ? [repeated(earlier)] : []), ...changes];
  if (isRepeat) return [repeated({ status, at, count: (earlier?.count ?? 0) + 1 }), ...changes];
  return [...(earlier ? [repeated(earlier)] : []), answered(at, answer), ...changes];
}

/** What was counted and has not been recorded since. */
function unrecorded({ counted }: RecordRequery, { lastRequery }: RequestedPayment): CountedAnswers | null {
  if (counted === null || counted === 'none') return null;
  return lastRequery && counted.at <= lastRequery.at ? null : counted;
}

function isCounted({ at, counted }: RecordRequery, { lastRequery }: RequestedPayment): boolean {
  if (counted !== 'none') return true;
  return lastRequery !== null && Date.parse(at) - Date.parse(lastRequery.at) < sameAnswerMs;
}

function repeated(data: CountedAnswers): PaymentEvent {
  return { type: 'RequeryRepeated', data };
}

function answered(at: string, answer: RegistryAnswer | { fault: RegistryFault }): PaymentEvent {
  if ('fault' in answer) return { type: 'RequeryUnanswered', data: { at, reason: answer.fault } };
  return { type: 'RequeryAnswered', data: { at, status: answer.status, evidence: { plain: answer.raw } } };
}

const fold = (state: RequestedPayment, events: readonly PaymentEvent[]) =>
  events.reduce<Payment>(evolve, state) as RequestedPayment;

/** The events of the results that decide the status, without what is not news. */
function decide(
  command: RecordRequery,
  results: RegistryAnswer['results'],
  state: RequestedPayment,
): PaymentEvent[] | Refused {
  const news: PaymentEvent[] = [];
  for (const result of results) {
    const known = fold(state, news);
    const events = recordGatewayResult(resultOf(command, result), known);
    if (events instanceof Refused) return events;
    news.push(...events.flatMap((event) => endingOnly(event, known)).filter(isNews));
  }
  return news;
}

function resultOf(
  { at, channel, merchantCode }: RecordRequery,
  result: RecordGatewayResult['result'],
): RecordGatewayResult {
  return {
    type: 'RecordGatewayResult',
    at,
    source: 'requery',
    verified: true,
    channel,
    merchantCode,
    result,
  };
}

/** A failure of an attempt that is still open contradicts no other attempt: it ends that one, once. */
export function endingOnly(event: PaymentEvent, state: RequestedPayment): PaymentEvent[] {
  if (event.type !== 'GatewayResultContradicted') return [event];
  if (event.data.result.outcome !== 'failed' && event.data.result.outcome !== 'cancelled') return [event];
  const { standing: _, ...data } = event.data;
  if (openAttempts(state).some(({ sellerOrderNo }) => sellerOrderNo === data.orderNo))
    return isPendingOtherwise(data.orderNo, data.result, state) ? [] : [{ type: 'AttemptEnded', data }];
  const isRepeat = state.results.some(
    ({ role, sellerOrderNo }) => role === 'ended' && sellerOrderNo === data.orderNo,
  );
  return isRepeat ? [] : [event];
}

/** Whether the attempt is pending in another transaction of the gateway, which a failure of this one does not end. */
function isPendingOtherwise(
  orderNo: string | null,
  { gatewayTransactionId }: Pick<PaymentResult, 'gatewayTransactionId'>,
  state: RequestedPayment,
): boolean {
  return openPendings(state).some(
    (pending) =>
      pending.sellerOrderNo === orderNo && differ(pending.gatewayTransactionId, gatewayTransactionId),
  );
}

/** A registry that lags behind the gateway, or reports a cancellation as a failure, contradicts nothing. */
function isNews(event: PaymentEvent): boolean {
  if (event.type !== 'GatewayResultContradicted') return true;
  const { result, standing } = event.data;
  return result.outcome === 'succeeded' || (result.outcome === 'failed' && standing !== 'cancelled');
}

type OtherRecord = RegistryAnswer['others'][number];

/**
 * The open attempts that the registry's other records report as failed. Records name no order: one whose gateway
 * transaction is known is about that order; the rest are about the open attempts by their method, the latest record about
 * the latest attempt.
 */
function endAttempts(
  command: RecordRequery,
  { others, results }: RegistryAnswer,
  state: RequestedPayment,
): PaymentEvent[] {
  const open = new Map(openAttempts(state).map((attempt) => [attempt.sellerOrderNo, attempt]));
  // A pending result has its attempt already.
  for (const result of results) open.delete(sellerOrderOf(state, result));
  const ended: PaymentEvent[] = [];
  const end = (record: OtherRecord, orderNo: string) => {
    open.delete(orderNo);
    if (isPendingOtherwise(orderNo, record, state)) return;
    const { status: _, ...result } = record;
    const given = recorded(resultOf(command, { outcome: 'failed', ...result }), state);
    ended.push(ending({ ...given, orderNo }, fold(state, ended)));
  };
  const unknown = others.filter((record) => {
    const known = state.results.find((result) => isSameRecord(record, result));
    if (known && record.status === 'failed' && open.has(known.sellerOrderNo))
      end(record, known.sellerOrderNo);
    return !known;
  });
  for (const [mode, records] of Map.groupBy(unknown, (record) => record.mode)) {
    const attempts = [...open.values()]
      .filter((attempt) => mode === '' || attempt.mode === mode)
      .toReversed();
    for (const [index, record] of records.toReversed().entries()) {
      const attempt = attempts[index];
      if (attempt && record.status === 'failed') end(record, attempt.sellerOrderNo);
    }
  }
  return ended;
}

/** The end of an attempt. It is that of the payment, too, if nothing else of a pending payment is pending. */
function ending(data: ReturnType<typeof recorded>, state: RequestedPayment): PaymentEvent {
  const ended: PaymentEvent = { type: 'AttemptEnded', data };
  const isAll =
    state.status === 'pending' &&
    openPendings(state).length > 0 &&
    openPendings(fold(state, [ended])).length === 0;
  return isAll ? { type: 'PaymentFailed', data: { ...data, ...setInMotion(state, 'failed') } } : ended;
}

/** Whether a recorded result is of the same gateway transaction; where neither has one, of the same method and time. */
function isSameRecord(record: OtherRecord, result: RequestedPayment['results'][number]): boolean {
  if (record.gatewayTransactionId !== '' || result.gatewayTransactionId !== '')
    return record.gatewayTransactionId === result.gatewayTransactionId;
  return result.source === 'requery' && result.mode === record.mode && result.paidAt === record.paidAt;
}
