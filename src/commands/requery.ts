/** What the transaction registry's answer does to a payment. */
import {
  type Channel,
  evolve,
  type Payment,
  type PaymentEvent,
  type RequestedPayment,
} from '../events/payment.ts';
import type { RegistryAnswer } from '../events/payment-result.ts';
import { Refused } from './decider.ts';
import { isPaymentOf, recordGatewayResult } from './payment-result.ts';

export type RecordRequeryAnswer = {
  type: 'RecordRequeryAnswer';
  at: string;
  channel: Channel;
  merchantCode: string;
  answer: RegistryAnswer;
};

/** The same answer is recorded once within this time, so that a burst of questions leaves one event. */
const sameAnswerMs = 60_000;

/** Each result in the answer is decided like one from the gateway. An answer without news is recorded once. */
export function recordRequeryAnswer(
  command: RecordRequeryAnswer,
  state: Payment,
): readonly PaymentEvent[] | Refused {
  if (!isPaymentOf(command, state)) return new Refused('unmatched_result', 'No such transaction');
  const { at, channel, merchantCode, answer } = command;
  const news: PaymentEvent[] = [];
  let known: Payment = state;
  for (const result of answer.results) {
    const events = recordGatewayResult(
      { type: 'RecordGatewayResult', at, source: 'requery', verified: true, channel, merchantCode, result },
      known,
    );
    if (events instanceof Refused) return events;
    const added = events.filter(isNews);
    news.push(...added);
    known = added.reduce(evolve, known);
  }
  if (news.length > 0 || isRepeated(command, state)) return news;
  return [{ type: 'RequeryAnswered', data: { at, status: answer.status, evidence: { plain: answer.raw } } }];
}

/** A registry that lags behind the gateway, or reports a cancellation as a failure, contradicts nothing. */
function isNews(event: PaymentEvent): boolean {
  if (event.type !== 'GatewayResultContradicted') return true;
  const { result, standing } = event.data;
  return result.outcome === 'failed' && standing !== 'cancelled';
}

function isRepeated({ at, answer }: RecordRequeryAnswer, { lastRequery }: RequestedPayment): boolean {
  return (
    lastRequery !== null &&
    lastRequery.status === answer.status &&
    Date.parse(at) - Date.parse(lastRequery.at) < sameAnswerMs
  );
}
