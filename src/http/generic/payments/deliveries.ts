/** The deliveries of a merchant's own payment, and POST /generic/payments/{id}/deliveries/{delivery}/send-again. */
import { shownDeliveries } from '../../../audit/history/deliveries.ts';
import { Refused } from '../../../commands/decider.ts';
import { toIsoWithOffset } from '../../../common/malaysian-time.ts';
import { type PaymentEvent, paymentStream, type RequestedPayment } from '../../../events/payment.ts';
import { type Context, causeOf } from '../../server/context.ts';
import type { Dependencies } from '../../server/dependencies.ts';
import type { FromMerchant } from '../authenticate.ts';
import type { OwnPayment } from './own-payment.ts';

/** Each with its attempts. The address of the payer is not in it. */
export function presentDeliveries(payment: RequestedPayment, events: readonly (PaymentEvent | null)[]) {
  const timeOf = (at: string | null) => at && toIsoWithOffset(at);
  return shownDeliveries(payment, events).map((delivery) => ({
    id: delivery.key,
    kind: delivery.kind,
    state: delivery.state,
    receiver: delivery.receiver,
    called_at: timeOf(delivery.calledAt),
    settled_at: timeOf(delivery.settledAt),
    next_attempt_at: delivery.state === 'due' ? timeOf(delivery.dueAt) : null,
    can_send_again: delivery.kind === 'callback' && delivery.canSendAgain,
    attempts: delivery.made.map(({ at, attempt, durationMs, reason, status }) => ({
      no: attempt,
      at: timeOf(at),
      duration_ms: durationMs,
      answer_status: status,
      reason,
    })),
  }));
}

/** Of one delivery, whoever asks for it: its stream stays short. Staff may send it more often. */
const maxAttempts = 50;

/** Only callbacks: an email goes to a person. Answers 202 also if the callback is due anyway. */
export function createSendOwnAgain({ execute, runtime }: Pick<Dependencies, 'execute' | 'runtime'>) {
  return async (ctx: Context<FromMerchant & OwnPayment>): Promise<void> => {
    const { merchant, own } = ctx.state;
    const { deliveries, request } = own.payment;
    const wanted = deliveries.find(({ key }) => key === ctx.params.delivery);
    if (wanted?.kind !== 'callback')
      throw new Refused('unknown_delivery', 'This payment has no such callback');
    await execute(
      paymentStream(request.transactionId),
      { type: 'RequestDelivery', at: runtime.now().toISOString(), delivery: wanted.key, maxAttempts },
      causeOf(ctx, `merchant:${merchant.code}`),
      { from: own.head },
    );
    ctx.status = 202;
    ctx.body = { status: true, message: 'The callback is sent again, with the same webhook-id' };
  };
}
