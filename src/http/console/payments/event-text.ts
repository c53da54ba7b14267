/** What an event says happened, in a few words that name nobody: the evidence itself is behind a click. */

import type { PaymentEvent } from '../../../events/payment.ts';
import type { PaymentResult, Source } from '../../../events/payment-result.ts';
import { displaySen } from '../../../kernel/money.ts';
import { texts } from '../../../receipts/texts.ts';

const { modes } = texts.en;

const sources: Readonly<Record<Source, string>> = {
  gateway: 'The gateway',
  requery: 'The registry',
  staff: 'Staff',
};

/** For an event as `readPaymentEvent` gives it. */
export function eventText(event: PaymentEvent): string {
  switch (event.type) {
    case 'PaymentRequested': {
      const { amountSen, channel, merchant } = event.data;
      return `${merchant.code} asked for ${displaySen(amountSen)} (${channel})`;
    }
    case 'PaymentMethodChosen': {
      const { attempt, chargeSen, mode } = event.data;
      const charge = chargeSen > 0 ? `, charge ${displaySen(chargeSen)}` : '';
      return `Attempt ${attempt}: ${modes[mode]}${charge}`;
    }
    case 'PaymentSucceeded': {
      const late = event.data.late ? ', after an earlier attempt had ended' : '';
      return `${reported(event.data)}: successful${late}; receipt ${event.data.receiptNo}`;
    }
    case 'PaymentFailed':
      return `${reported(event.data)}: failed`;
    case 'PaymentCancelled':
      return `${reported(event.data)}: cancelled`;
    case 'PaymentPending':
      return `${reported(event.data)}: pending`;
    case 'GatewayResultContradicted':
      return `${reported(event.data)}: ${event.data.result.outcome}, which clashes with ${event.data.standing}; the status stays`;
    case 'AmountMismatchDetected': {
      const { expectedSen } = event.data;
      return `${reported(event.data)}: successful, but ${displaySen(expectedSen)} were asked for; not paid`;
    }
    case 'DuplicatePaymentDetected':
      return `${reported(event.data)}: successful, though it was paid before; money to give back`;
    case 'RequeryAnswered':
      return `The registry was asked and said nothing new (${event.data.status})`;
    case 'ExceptionResolved':
      return `Exception of result ${event.data.resultNo}: ${event.data.resolution}`;
    default:
      return deliveryText(event);
  }
}

function reported(data: { source: Source; verified: boolean; result: PaymentResult }): string {
  const { result, source, verified } = data;
  const amount = result.amountSen === null ? '' : ` ${displaySen(result.amountSen)}`;
  const currency = result.currency === '' || result.currency === 'MYR' ? '' : ` in ${result.currency}`;
  return `${sources[source]} reported${amount}${currency}${verified ? '' : ' (not signed)'}`;
}

type AboutDelivery = Exclude<PaymentEvent, { data: { source: Source } } | { type: Told }>;
type Told = 'PaymentRequested' | 'PaymentMethodChosen' | 'RequeryAnswered' | 'ExceptionResolved';

function deliveryText({ type, data }: AboutDelivery): string {
  const answered = 'status' in data && data.status !== null ? ` with ${data.status}` : '';
  const tried = 'attempt' in data ? `try ${data.attempt}, ${data.durationMs} ms` : '';
  switch (type) {
    case 'CallbackDelivered':
    case 'ReceiptEmailSent':
      return `${data.delivery} delivered${answered} (${tried})`;
    case 'CallbackAttemptFailed':
    case 'ReceiptEmailAttemptFailed':
      return `${data.delivery} failed${answered}: ${data.reason} (${tried})`;
    case 'CallbackAbandoned':
    case 'ReceiptEmailAbandoned':
      return `${data.delivery} given up${answered}: ${data.reason} (${tried})`;
    case 'CallbackSuperseded':
      return `${data.delivery} overtaken by a newer status`;
    case 'CallbackRequested':
    case 'ReceiptEmailRequested':
      return `${data.delivery} asked for again`;
    default:
      return type satisfies never;
  }
}
