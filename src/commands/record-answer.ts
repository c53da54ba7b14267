/** Records the registry's answer about a payment, or the lack of one; equal answers in a row are only counted. */
import type { Cause } from '../events/envelope.ts';
import { type Payment, type PaymentEvent, type PaymentRequested, paymentStream } from '../events/payment.ts';
import type { CountedAnswers } from '../events/requery.ts';
import type { Executed, Head } from './execute.ts';
import type { ExecutePayment } from './payment.ts';
import type { RecordRequery } from './requery.ts';

/** Where equal answers are counted until an event says how many they were. Nothing here rejects. */
type AnswerCounts = {
  /** 'none' where nothing can be counted: there is no row for the payment, or Postgres does not answer. */
  read(transactionId: string): Promise<CountedAnswers | null | 'none'>;
  /** Adds one to what was counted after `since`, the last question that was recorded. False if it could not be counted. */
  add(transactionId: string, answer: Omit<CountedAnswers, 'count'>, since: string | null): Promise<boolean>;
  /** Forgets what was counted up to a time. */
  clear(transactionId: string, upTo: string): Promise<void>;
};

export type RecordAnswer = ReturnType<typeof createRecordAnswer>;

/** The function returned throws what `execute` throws. */
export function createRecordAnswer({ counts, execute }: { counts: AnswerCounts; execute: ExecutePayment }) {
  return async (
    { transactionId, channel, merchant }: Pick<PaymentRequested, 'transactionId' | 'channel' | 'merchant'>,
    answer: RecordRequery['answer'],
    { at, cause, from = null }: { at: string; cause: Cause; from?: Head<Payment> | null },
  ): Promise<Executed<Payment, PaymentEvent>> => {
    const counted = await counts.read(transactionId);
    const command = { type: 'RecordRequery', at, channel, merchantCode: merchant.code, answer } as const;
    const stream = paymentStream(transactionId);
    const executed = await execute(stream, { ...command, counted }, cause, { from });
    if (counted === 'none') return executed;
    if (executed.events.length > 0 || answer === null) {
      if (counted) await counts.clear(transactionId, counted.at);
      return executed;
    }
    const status = 'fault' in answer ? answer.fault : answer.status;
    const { state } = executed;
    const since = state.status === 'none' ? null : (state.lastRequery?.at ?? null);
    if (await counts.add(transactionId, { status, at }, since)) return executed;
    return await execute(stream, { ...command, counted: 'none' }, cause, { from: executed });
  };
}
