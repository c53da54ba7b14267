/** What the transaction registry's answer does to a payment, or its failure to answer. */
import type { Channel, PaymentEvent, RequestedPayment } from '../events/payment.ts';
import type { RegistryAnswer, RegistryFault, ReportedResult } from '../events/payment-result.ts';
import type { CountedAnswers } from '../events/requery.ts';
import { attemptsAtTheirEnd } from '../events/requery-schedule.ts';
import { endAttempts, endingOnly } from './attempt-end.ts';
import { afterEvents } from './decider.ts';
import { type Report, recordGatewayResult } from './payment-result.ts';
import { isInBooks, successesOfTransaction } from './same-money.ts';

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
 * Each result in the answer is decided like one from the gateway, and each other failure ends its attempt unless it may
 * have taken back a charge. An attempt that is asked about for the last time and stays open is left to staff. Returns
 * `[]` if the answer is the same as the last one: it is then counted (record-answer.ts).
 */
export function recordRequery(command: RecordRequery, state: RequestedPayment): readonly PaymentEvent[] {
  const { answer, at } = command;
  const counted = unrecorded(command, state);
  const before = counted ? [repeated(counted)] : [];
  if (answer === null) return before;

  const given = { at, source: 'requery', verified: true } as const;
  const { results, others } = 'fault' in answer ? { results: [], others: [] } : answer;
  const decided = decideResults(given, [...results, ...takenBack(others, state)], state);
  const ended = endAttempts(given, { results, others }, afterEvents(state, decided));
  const unknown = attemptsAtTheirEnd(afterEvents(state, [...decided, ...ended]), at).map(
    ({ sellerOrderNo: orderNo }): PaymentEvent => ({ type: 'AttemptOutcomeUnknown', data: { at, orderNo } }),
  );
  const changes = [...decided, ...ended, ...unknown];

  const status = 'fault' in answer ? answer.fault : answer.status;
  const isRepeat = status === (counted?.status ?? state.lastRequery?.status);
  if (isRepeat && changes.length === 0 && isCounted(command, state)) return [];
  // A result that sets the status, or goes to staff, is the answer.
  const isAnswered = decided.some(({ type }) => type !== 'AttemptEnded');
  if (isRepeat && !isAnswered)
    return [repeated({ status, at, count: (counted?.count ?? 0) + 1 }), ...changes];
  return isAnswered ? [...before, ...changes] : [...before, answered(at, answer), ...changes];
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

const repeated = (data: CountedAnswers): PaymentEvent => ({ type: 'RequeryRepeated', data });

function answered(at: string, answer: RegistryAnswer | { fault: RegistryFault }): PaymentEvent {
  if ('fault' in answer) return { type: 'RequeryUnanswered', data: { at, reason: answer.fault } };
  return { type: 'RequeryAnswered', data: { at, status: answer.status, evidence: { plain: answer.raw } } };
}

/** The events of the results that decide the status, without what is not news. */
function decideResults(
  given: Omit<Report, 'result'>,
  results: RegistryAnswer['results'],
  state: RequestedPayment,
): PaymentEvent[] {
  const news: PaymentEvent[] = [];
  for (const result of results) {
    const known = afterEvents(state, news);
    const events = recordGatewayResult({ ...given, result }, known);
    news.push(...events.flatMap((event) => endingOnly(event, known)).filter(isNews));
  }
  return news;
}

/** The failures, each at a later time, of charges that the books have: the bank may have taken these back. */
function takenBack(others: RegistryAnswer['others'], state: RequestedPayment): ReportedResult[] {
  return others.flatMap(({ status, ...record }) => {
    const failure = { ...record, outcome: 'failed' } as const;
    const charges = successesOfTransaction(state, failure).filter(isInBooks);
    const isLater = charges.some(({ paidAt }) => (paidAt ?? '') < (record.paidAt ?? ''));
    return status === 'failed' && isLater ? [failure] : [];
  });
}

/** A registry that lags behind the gateway, or reports a cancellation as a failure, contradicts nothing. */
function isNews(event: PaymentEvent): boolean {
  if (event.type !== 'GatewayResultContradicted') return true;
  const { result, standing } = event.data;
  return result.outcome === 'succeeded' || (result.outcome === 'failed' && standing !== 'cancelled');
}
