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
import { isPaymentOf, recordGatewayResult } from './gateway-result.ts';

export type RecordRequeryAnswer = {
  type: 'RecordRequeryAnswer';
  at: string;
  channel: Channel;
  merchantCode: string;
  answer: RegistryAnswer;
};

/** The same answer within this time is one answer, so that asking in a burst leaves one event. */
const sameAnswerMs = 60_000;

/** A result in the answer goes through the decision of a gateway's; an answer that says nothing new is noted, once. */
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
    const told = events.filter(isNews);
    news.push(...told);
    known = told.reduce(evolve, known);
  }
  if (news.length > 0 || wasJustSaid(command, state)) return news;
  return [{ type: 'RequeryAnswered', data: { at, status: answer.status, raw: answer.raw } }];
}

/** A registry that is behind the gateway, or that calls a cancellation a failure, contradicts nothing. */
function isNews(event: PaymentEvent): boolean {
  if (event.type !== 'GatewayResultContradicted') return true;
  const { result, standing } = event.data;
  return result.outcome === 'failed' && standing !== 'cancelled';
}

function wasJustSaid({ at, answer }: RecordRequeryAnswer, { lastRequery }: RequestedPayment): boolean {
  return (
    lastRequery !== null &&
    lastRequery.status === answer.status &&
    Date.parse(at) - Date.parse(lastRequery.at) < sameAnswerMs
  );
}
