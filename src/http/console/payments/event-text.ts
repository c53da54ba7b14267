/** What an event says, in a few words without personal data; another page shows the event as recorded. */
import type { adjustmentEvents } from '../../../events/adjustments.ts';
import type { approvalEvents } from '../../../events/approvals.ts';
import type { PaymentEvent } from '../../../events/payment.ts';
import type { PaymentResult, Source } from '../../../events/payment-result.ts';
import type { CreditEffect } from '../../../events/recorded-result.ts';
import type { requeryEvents } from '../../../events/requery.ts';
import { displaySen } from '../../../kernel/money.ts';
import { texts } from '../../../receipts/texts.ts';

const { modes } = texts.en;

const sources: Readonly<Record<Source, string>> = {
  gateway: 'The gateway',
  requery: 'The registry',
  staff: 'Staff',
  payer: 'The payer',
};

const effectTexts: Readonly<Record<CreditEffect, string>> = {
  paid: 'which pays the payment',
  partlyPaid: 'which pays a part',
  nothing: 'beside what has paid the payment',
};

export function eventText(event: PaymentEvent): string {
  switch (event.type) {
    case 'PaymentRequested': {
      const { amountSen, channel, merchant } = event.data;
      return `${merchant.code} requested ${displaySen(amountSen)} (${channel})`;
    }
    case 'PaymentMethodChosen': {
      const { attempt, chargeSen, mode } = event.data;
      const fee = chargeSen > 0 ? `, fee ${displaySen(chargeSen)}` : '';
      return `Attempt ${attempt}: ${modes[mode]}${fee}`;
    }
    case 'PaymentSucceeded': {
      const late = event.data.late ? ', after an earlier attempt had failed or was cancelled' : '';
      return `${reported(event.data)}: successful${late}; receipt ${event.data.receiptNo}`;
    }
    case 'PaymentFailed':
      return `${reported(event.data)}: failed`;
    case 'PaymentCancelled':
      return `${reported(event.data)}: cancelled`;
    case 'PaymentPending':
      return `${reported(event.data)}: pending`;
    case 'GatewayResultContradicted':
      return `${reported(event.data)}: ${event.data.result.outcome}, which contradicts ${event.data.standing}; the status stays`;
    case 'AmountMismatchDetected': {
      const { expectedSen } = event.data;
      return `${reported(event.data)}: successful, but ${displaySen(expectedSen)} was requested; not paid`;
    }
    case 'DuplicatePaymentDetected':
      return `${reported(event.data)}: successful, though already paid; the money is in suspense`;
    case 'GatewayResultIdentified': {
      const { gatewayTransactionId, resultNo, sellerOrderNo, source } = event.data;
      const named = [gatewayTransactionId, sellerOrderNo].filter((each) => each !== '').join(', ');
      return `${sources[source]} named result ${resultNo}: ${named}`;
    }
    case 'AttemptEnded':
      return `${reported(event.data)}: ${event.data.result.outcome}, about order ${event.data.orderNo}; the status stays`;
    case 'RequeryUnanswered':
      return `The registry was asked and gave no answer (${event.data.reason})`;
    case 'RequeryRepeated': {
      const { count, status } = event.data;
      return `The registry was asked ${count} more ${count === 1 ? 'time' : 'times'}, with no change (${status})`;
    }
    case 'AttemptOutcomeUnknown':
      return `Nobody knows what became of order ${event.data.orderNo}; it is left to staff`;
    case 'RequeryAnswered':
      return `The registry was asked and reported nothing new (${event.data.status})`;
    case 'PersonalDataErased':
      return event.data.reason === 'retention'
        ? 'Personal data erased, because the time for which they are kept is over'
        : 'Personal data erased on request';
    case 'ExceptionResolved':
      return `Exception of result ${event.data.resultNo}: ${event.data.resolution}`;
    case 'AmountMismatchCredited': {
      const { amountSen, effect, resultNo } = event.data;
      return `Exception of result ${resultNo}: ${displaySen(amountSen)} credited, ${effectTexts[effect]}`;
    }
    case 'PaymentReversed':
      return `Exception of result ${event.data.resultNo}: the bank took ${displaySen(event.data.amountSen)} back`;
    case 'PaymentRefunded':
      return `${displaySen(event.data.amountSen)} refunded, reference ${event.data.gatewayReference}`;
    case 'ApprovalRequested': {
      const { action } = event.data;
      return action.kind === 'refund'
        ? `A refund of ${displaySen(action.amountSen)} is proposed`
        : `Exception of result ${action.resultNo}: ${action.resolution} is proposed`;
    }
    case 'ApprovalGranted':
      return `Proposal ${event.data.no} is approved`;
    case 'ApprovalRejected':
      return `Proposal ${event.data.no} is rejected`;
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

type AboutPayment =
  | keyof typeof adjustmentEvents
  | keyof typeof approvalEvents
  | 'GatewayResultIdentified'
  | 'PaymentRequested'
  | 'PaymentMethodChosen'
  | keyof typeof requeryEvents
  | 'ExceptionResolved'
  | 'PersonalDataErased';
type AboutDelivery = Exclude<PaymentEvent, { data: { source: Source } } | { type: AboutPayment }>;

function deliveryText({ type, data }: AboutDelivery): string {
  const answered = 'status' in data && data.status !== null ? ` with ${data.status}` : '';
  const attempt = 'attempt' in data ? `attempt ${data.attempt}, ${data.durationMs} ms` : '';
  switch (type) {
    case 'CallbackDelivered':
    case 'ReceiptEmailSent':
      return `${data.delivery} delivered${answered} (${attempt})`;
    case 'CallbackAttemptFailed':
    case 'ReceiptEmailAttemptFailed':
      return `${data.delivery} failed${answered}: ${data.reason} (${attempt})`;
    case 'CallbackAbandoned':
    case 'ReceiptEmailAbandoned':
      return `${data.delivery} given up${answered}: ${data.reason} (${attempt})`;
    case 'CallbackSuperseded':
      return `${data.delivery} superseded by a newer status`;
    case 'CallbackRequested':
    case 'ReceiptEmailRequested':
      return `${data.delivery} requested again`;
    default:
      return type satisfies never;
  }
}
