/** What an event says, in a few words without personal data; another page shows the event as recorded. */
import { format } from '@ledger/kernel/format.ts';
import type { Language } from '../../../common/languages.ts';
import { displaySen } from '../../../common/money.ts';
import { phrase } from '../../../common/phrases.ts';
import type { PaymentEvent } from '../../../events/payment.ts';
import type { PaymentResult, Source } from '../../../events/payment-result.ts';
import { texts as receiptTexts } from '../../../receipts/texts.ts';
import { type ConsoleTexts, texts } from '../texts.ts';

export function eventText(event: PaymentEvent, lang: Language): string {
  return format(texts[lang].events[textKeyOf(event)], valuesOf(event, lang));
}

function textKeyOf({ type, data }: PaymentEvent): keyof ConsoleTexts['events'] {
  switch (type) {
    case 'PaymentMethodChosen':
      return data.chargeSen > 0 ? 'PaymentMethodChosenWithFee' : type;
    case 'PaymentSucceeded':
      return data.late ? 'PaymentSucceededLate' : type;
    case 'GatewayResultContradicted':
      return data.result.outcome === 'succeeded' ? 'SuccessContradicted' : type;
    case 'RequeryRepeated':
      return data.count === 1 ? 'RequeryRepeatedOnce' : type;
    case 'GatewayResultIdentified':
      return data.gatewayTransactionId === '' ? 'ResultOrderIdentified' : type;
    case 'PersonalDataErased':
      return data.reason === 'retention' ? 'PersonalDataExpired' : type;
    case 'ApprovalRequested':
      return data.action.kind === 'refund' ? 'RefundRequested' : 'ResolutionRequested';
    default:
      return type;
  }
}

/** What the texts may name: the fields of the event as they are, or as people read them. */
function valuesOf({ data }: PaymentEvent, lang: Language): Readonly<Record<string, unknown>> {
  const { eventParts: parts } = texts[lang];
  const words: Readonly<Record<string, string>> = texts[lang].words;
  const worded = (code: string) => words[code] ?? phrase(lang, code);
  const subject = 'action' in data ? data.action : data;
  return {
    ...subject,
    ...('amountSen' in subject && { amount: displaySen(subject.amountSen) }),
    ...('expectedSen' in data && { expected: displaySen(data.expectedSen) }),
    ...('merchant' in data && { merchant: data.merchant.code }),
    ...('chargeSen' in data && {
      method: receiptTexts[lang].modes[data.mode],
      fee: displaySen(data.chargeSen),
    }),
    ...('source' in data && { source: parts.sources[data.source] }),
    ...('gatewayTransactionId' in data && { numbers: numbersText(data) }),
    ...('result' in data && { reported: reportedText(data, parts), outcome: worded(data.result.outcome) }),
    ...('standing' in data && { standing: worded(data.standing) }),
    ...('status' in data && typeof data.status === 'string' && { status: worded(data.status) }),
    ...('resolution' in subject && { resolution: worded(subject.resolution) }),
    ...('reason' in subject && { reason: worded(subject.reason) }),
    ...('effect' in data && { effect: parts.effects[data.effect] }),
  };
}

const numbersText = (data: { gatewayTransactionId: string; sellerOrderNo: string }) =>
  [data.gatewayTransactionId, data.sellerOrderNo].filter(Boolean).join(', ');

function reportedText(
  { result, source, verified }: { source: Source; verified: boolean; result: PaymentResult },
  parts: ConsoleTexts['eventParts'],
) {
  const { amountSen, currency } = result;
  return [
    format(parts.reported, { source: parts.sources[source] }),
    amountSen === null ? '' : displaySen(amountSen, currency),
    verified ? '' : parts.notSigned,
  ]
    .filter(Boolean)
    .join(' ');
}
