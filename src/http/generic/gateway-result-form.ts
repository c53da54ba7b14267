/** GET /generic/debug: stands in for the gateway, whose secret it signs results with. Only in the sandbox. */
import { signFields } from '../../clients/gateway/checksum.ts';
import type { GatewayFields } from '../../clients/gateway/read-result.ts';
import { otherLanguage } from '../../common/languages.ts';
import { toDateTime, toDigits } from '../../common/malaysian-time.ts';
import { addSen, displaySen, formatSen, type Sen } from '../../common/money.ts';
import { paymentModes } from '../../common/payment-modes.ts';
import { outstandingSen } from '../../events/adjustments.ts';
import type { OpenPayment } from '../../events/open-payment.ts';
import type { RequestedPayment } from '../../events/payment.ts';
import { standingOf } from '../../events/payment-standing.ts';
import type { Links } from '../../receipts/payment-links.ts';
import { type Language, statusName } from '../../receipts/texts.ts';
import type { PaymentChannel } from '../pay/channel.ts';
import { unlessUnknown } from '../pay/load-payment.ts';
import { texts } from '../pay/texts.ts';
import { type Context, languageOf, queryText } from '../server/context.ts';

/** `?TRANS_ID=` chooses the payment; the query may also set every other field of the result. */
export async function showGatewayResultForm(ctx: Context, channel: PaymentChannel): Promise<void> {
  const { config, latestPayments, links, readPayment, runtime } = channel;
  const pageUrl = `${config.baseUrl}/generic/debug`;
  const urlOf = (query: Record<string, string>) => `${pageUrl}?${new URLSearchParams(query)}`;
  const lang = languageOf(ctx);
  const transactionId = queryText(ctx, 'TRANS_ID').trim();
  const payment = transactionId === '' ? undefined : await unlessUnknown(readPayment(transactionId));
  const likely = payment && likelyResult(payment, runtime.now());
  const values = likely && { ...likely, ...givenFields(ctx, likely), TRANS_ID: transactionId };
  const fields = Object.fromEntries(Object.entries(values ?? {}).filter(([, value]) => value !== ''));
  const { TRANS_ID: _, ...inputs } = values ?? {};
  const latest = await latestPayments().catch(() => undefined);
  await ctx.render('debug.njk', {
    lang,
    otherLanguageUrl: urlOf({ ...values, lang: otherLanguage(lang) }),
    action: pageUrl,
    /** Undefined when they cannot be listed. */
    latest: latest?.map(({ merchantCode, reference, ...latestPayment }) => ({
      url: urlOf({ TRANS_ID: latestPayment.transactionId, lang }),
      merchantCode,
      reference,
      status: statusName(latestPayment.status),
      amount: displaySen(latestPayment.amountSen),
    })),
    simulateUrl: `${config.baseUrl}/generic/simulate?lang=${lang}`,
    transactionId,
    unknown: transactionId !== '' && !payment,
    payment: payment && summaryOf(payment, links),
    inputs,
    choices: choicesIn(lang),
    responseUrl: links.gatewayResult,
    signed: { ...fields, CHECKSUM: signFields(fields, config.gateway.secret) },
  });
}

function likelyResult(payment: OpenPayment, now: Date): GatewayFields {
  const { request, attempts } = payment;
  const attempt = attempts.at(-1);
  const time = now.toISOString();
  return {
    DIRECTION: 'result',
    STATUS: '1',
    PAYMENT_MODE: attempt?.mode ?? 'fpx',
    MERCHANT_CODE: request.merchant.code,
    TRANS_ID: request.transactionId,
    RECEIPT_NO: '',
    PAYMENT_TRANS_ID: `DEBUG${toDigits(time)}`,
    PAYMENT_DATETIME: toDateTime(time),
    AMOUNT: formatSen(addSen(outstandingSen(payment), attempt?.chargeSen ?? (0 as Sen))),
    CURRENCY: '',
    BUYER_BANK: 'Bank Contoh',
    BUYER_NAME: request.payer.name,
    MERCHANT_ORDER_NO: attempt?.sellerOrderNo ?? '',
  };
}

/** The fields that the query sets; one that it sets to nothing is left out of the result. */
function givenFields(ctx: Context, fields: GatewayFields): GatewayFields {
  const given = Object.keys(fields).filter((name) => typeof ctx.query[name] === 'string');
  return Object.fromEntries(given.map((name) => [name, queryText(ctx, name)]));
}

function summaryOf({ request, ...payment }: RequestedPayment, links: Links) {
  return {
    status: statusName(standingOf(payment)),
    amount: displaySen(request.amountSen),
    agency: request.merchant.name,
    reference: request.reference,
    receiptUrl: links.receipt(request.transactionId),
  };
}

/** The choices of the fields that have some; the others are typed. */
function choicesIn(lang: Language): Readonly<Record<string, readonly { value: string; text: string }[]>> {
  const { statuses } = texts[lang];
  return {
    STATUS: (['failed', 'success', 'cancelled', 'pending'] as const).map((name, code) => ({
      value: String(code),
      text: `${code} ${statuses[name]}`,
    })),
    PAYMENT_MODE: paymentModes.map((mode) => ({ value: mode, text: mode })),
  };
}
