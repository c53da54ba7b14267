/**
 * GET /generic/debug: stands in for the gateway. Choose a payment and a result, see the fields with their CHECKSUM,
 * and post them from the browser to /generic/response. It signs with the gateway's secret: only where the sandbox is.
 */
import { signFields } from '../../clients/gateway/hand-over.ts';
import type { GatewayFields } from '../../clients/gateway/read-result.ts';
import { paymentModes, type RequestedPayment } from '../../events/payment.ts';
import { toDateTime, toDigits } from '../../kernel/malaysian-time.ts';
import { addSen, displaySen, formatSen } from '../../kernel/money.ts';
import type { LatestPayment } from '../../projections/payments/queries.ts';
import type { Links } from '../../receipts/payment-links.ts';
import { statusName } from '../../receipts/texts.ts';
import type { PayDependencies } from '../pay/dependencies.ts';
import { otherLanguage } from '../pay/links.ts';
import type { ReadPayment } from '../pay/read-payment.ts';
import { texts } from '../pay/texts.ts';
import { type Context, languageOf } from '../server/context.ts';
import { HttpProblem } from '../server/errors.ts';
import type { Language } from '../server/language.ts';
import type { DebugPage } from './models.ts';

type DebugDependencies = {
  latestPayments(): Promise<readonly LatestPayment[]>;
  config: Pick<PayDependencies['config'], 'baseUrl' | 'gateway'>;
  readPayment: ReadPayment;
  links: Links;
  clock: () => Date;
};

/** `?TRANS_ID=` chooses the payment; every other field of a result may be given likewise. */
export function createDebug(dependencies: DebugDependencies) {
  const { config, links, clock } = dependencies;
  const pageUrl = `${config.baseUrl}/generic/debug`;

  return async (ctx: Context): Promise<void> => {
    const lang = languageOf(ctx);
    const transactionId = queryText(ctx, 'TRANS_ID').trim();
    const payment = await find(transactionId, dependencies);
    const likely = payment && likelyResult(payment, clock());
    const values = likely && {
      ...likely,
      ...givenFields(ctx, Object.keys(likely)),
      TRANS_ID: transactionId,
    };
    const fields = Object.fromEntries(Object.entries(values ?? {}).filter(([, value]) => value !== ''));
    const page: DebugPage = {
      lang,
      otherLanguageUrl: `${pageUrl}?${new URLSearchParams({ ...values, lang: otherLanguage(lang) })}`,
      action: pageUrl,
      latest: await latest(lang, pageUrl, dependencies),
      simulateUrl: `${config.baseUrl}/generic/simulate?lang=${lang}`,
      transactionId,
      unknown: transactionId !== '' && !payment,
      payment: payment && summaryOf(payment, links),
      inputs: values ? inputsOf(values, lang) : [],
      responseUrl: links.gatewayResult,
      signed: values ? listed({ ...fields, CHECKSUM: signFields(fields, config.gateway.secret) }) : [],
    };
    await ctx.render('debug.njk', page);
  };
}

/** What the gateway would most likely say of the latest attempt. */
function likelyResult({ request, attempts }: RequestedPayment, now: Date): GatewayFields {
  const attempt = attempts.at(-1);
  const time = now.toISOString();
  return {
    STATUS: '1',
    PAYMENT_MODE: attempt?.mode ?? 'fpx',
    MERCHANT_CODE: request.merchant.code,
    TRANS_ID: request.transactionId,
    RECEIPT_NO: '',
    PAYMENT_TRANS_ID: `DEBUG${toDigits(time)}`,
    PAYMENT_DATETIME: toDateTime(time),
    AMOUNT: formatSen(attempt ? addSen(request.amountSen, attempt.chargeSen) : request.amountSen),
    BUYER_BANK: 'Bank Contoh',
    BUYER_NAME: request.payer.name,
    MERCHANT_ORDER_NO: attempt?.sellerOrderNo ?? '',
  };
}

/** Those of the fields that the query names; one that is given as empty is left out of the result. */
function givenFields(ctx: Context, names: readonly string[]): GatewayFields {
  const given = names.filter((name) => typeof ctx.query[name] === 'string');
  return Object.fromEntries(given.map((name) => [name, queryText(ctx, name)]));
}

function queryText(ctx: Context, name: string): string {
  const value = ctx.query[name];
  return typeof value === 'string' ? value : '';
}

async function find(
  transactionId: string,
  { readPayment }: DebugDependencies,
): Promise<RequestedPayment | undefined> {
  if (transactionId === '') return undefined;
  try {
    return (await readPayment(transactionId)).payment;
  } catch (error) {
    if (error instanceof HttpProblem && error.status === 404) return undefined;
    throw error;
  }
}

/** Undefined when Postgres cannot say. */
async function latest(
  lang: Language,
  pageUrl: string,
  { latestPayments }: DebugDependencies,
): Promise<DebugPage['latest']> {
  const rows = await latestPayments().catch(() => undefined);
  return rows?.map(({ transactionId, merchantCode, reference, status, amountSen }) => ({
    url: `${pageUrl}?${new URLSearchParams({ TRANS_ID: transactionId, lang })}`,
    merchantCode,
    reference,
    status: statusName(status),
    amount: displaySen(amountSen),
  }));
}

function summaryOf({ request, status }: RequestedPayment, links: Links): DebugPage['payment'] {
  return {
    status: statusName(status),
    amount: displaySen(request.amountSen),
    agency: request.merchant.name,
    reference: request.reference,
    receiptUrl: links.receipt(request.transactionId),
  };
}

function inputsOf(values: GatewayFields, lang: Language): DebugPage['inputs'] {
  const { statuses } = texts[lang];
  const choices: Readonly<Record<string, readonly { value: string; text: string }[]>> = {
    STATUS: (['failed', 'success', 'cancelled', 'pending'] as const).map((name, code) => ({
      value: String(code),
      text: `${code} ${statuses[name]}`,
    })),
    PAYMENT_MODE: paymentModes.map((mode) => ({ value: mode, text: mode })),
  };
  return listed(values)
    .filter(({ name }) => name !== 'TRANS_ID')
    .map((field) => ({ ...field, choices: choices[field.name] }));
}

function listed(fields: GatewayFields): DebugPage['signed'] {
  return Object.entries(fields).map(([name, value]) => ({ name, value }));
}
