/** GET /generic/payments/{id}: a merchant's own payment, with what happened to it. Decision 48. */
import texts from '../../../../content/texts/payments.en.json' with { type: 'json' };
import { shownDeliveries } from '../../../audit/history/deliveries.ts';
import type { HistoryEntry } from '../../../audit/history/history.ts';
import { toDateTime, toIsoWithOffset } from '../../../common/malaysian-time.ts';
import { formatSen, type Sen } from '../../../common/money.ts';
import type { PaymentMode } from '../../../common/payment-modes.ts';
import { openPayment } from '../../../events/open-payment.ts';
import type { PaymentEvent } from '../../../events/payment.ts';
import { statusCodeOf } from '../../../receipts/payment-fields.ts';
import { texts as receiptTexts } from '../../../receipts/texts.ts';
import type { PaymentChannel } from '../../pay/channel.ts';
import type { Context } from '../../server/context.ts';
import { maxAttempts } from './actions.ts';
import { type OwnPayment, presentPayment } from './own-payment.ts';

export async function showOwnPayment(
  ctx: Context<OwnPayment>,
  { personalData, runtime }: PaymentChannel,
): Promise<void> {
  const { entries, events, payment } = ctx.state.own;
  const data = {
    ...presentPayment(await openPayment(payment, personalData.open)),
    history: entries.flatMap((entry, index) => presentEvent(entry, events[index])),
    deliveries: presentDeliveries(payment, events, runtime.now()),
  };
  ctx.body = { status: true, message: 'Your payment', data };
}

const eventNames: Readonly<Partial<Record<PaymentEvent['type'], string>>> = texts.events;

/** None for an event that concerns staff alone, or a delivery: deliveries have a list of their own. */
function presentEvent({ at, actor, revision, state }: HistoryEntry, event: PaymentEvent | null = null) {
  const name = event && eventNames[event.type];
  if (!name || at === null || state.status === 'none') return [];
  const by = actor === 'registry' ? 'requery' : (actor?.split(':')[0] ?? '');
  const source = 'source' in event.data ? event.data.source : by;
  const status = statusCodeOf(state);
  return [
    { no: revision, at: toIsoWithOffset(at), event: name, status, source, evidence: evidenceOf(event) },
  ];
}

/** What was reported, as far as it says nothing about the payer and is no note of staff. */
function evidenceOf({ data }: PaymentEvent): Record<string, string> {
  const said: Readonly<Record<string, unknown>> =
    'result' in data ? { ...data, ...data.result } : { ...data };
  const shown = Object.entries(texts.evidence).map(([field, name]) => [name, textOf(field, said[field])]);
  return Object.fromEntries(shown.filter(([, text]) => text !== ''));
}

function textOf(field: string, value: unknown): string {
  if (value === undefined || value === null || value === '') return '';
  if (field.endsWith('Sen')) return formatSen(value as Sen);
  if (field === 'paidAt') return toDateTime(String(value));
  return field === 'mode' ? receiptTexts.en.modes[value as PaymentMode] : String(value);
}

/** The deliveries, each with its attempts, without the address of the payer. */
export function presentDeliveries(...shown: Parameters<typeof shownDeliveries>) {
  const timeOf = (at: string | null) => at && toIsoWithOffset(at);
  return shownDeliveries(...shown).map((delivery) => ({
    id: delivery.key,
    kind: delivery.kind,
    state: delivery.state,
    receiver: delivery.receiver,
    called_at: timeOf(delivery.calledAt),
    settled_at: timeOf(delivery.settledAt),
    next_attempt_at: delivery.state === 'due' ? timeOf(delivery.dueAt) : null,
    can_send_again: delivery.kind === 'callback' && delivery.canSendAgain && delivery.attempts < maxAttempts,
    attempts: delivery.made.map(({ at, attempt, durationMs, reason, status }) => ({
      no: attempt,
      at: timeOf(at),
      duration_ms: durationMs,
      answer_status: status,
      reason,
    })),
  }));
}
