/** POST /<channel>/pay/{id}: records the method that a payer chose, and takes the payer to the gateway. */
import { handOverFields } from '../../clients/gateway/hand-over.ts';
import { type RefusalCode, Refused } from '../../commands/decider.ts';
import { chosenAttempt } from '../../commands/payment.ts';
import type { Config } from '../../config/config.ts';
import { outstandingSen } from '../../events/adjustments.ts';
import type { OpenPayment } from '../../events/open-payment.ts';
import { type Attempt, paymentStream } from '../../events/payment.ts';
import { addSen, displaySen } from '../../kernel/money.ts';
import type { Links } from '../../receipts/payment-links.ts';
import { bodyText } from '../server/body.ts';
import { type Context, causeOf, languageOf, seeOther } from '../server/context.ts';
import { HttpProblem } from '../server/errors.ts';
import { scriptHash } from '../server/inline-style.ts';
import { pagePolicy } from '../server/security-headers.ts';
import type { PayDependencies } from './dependencies.ts';
import type { LeadToReceipt } from './lead-to-receipt.ts';
import type { PaymentWithHead } from './load-payment.ts';
import { type Offer, offersFor } from './payment-methods.ts';
import { drawPaymentPage, type FormFault, isSettled, type PaymentPageDependencies } from './payment-page.ts';
import { texts } from './texts.ts';

type ChooseDependencies = PaymentPageDependencies & {
  config: Pick<Config, 'gateway'>;
  execute: PayDependencies['execute'];
  leadToReceipt: LeadToReceipt;
};

export function createChooseMethod(dependencies: ChooseDependencies) {
  const { config, leadToReceipt, links } = dependencies;
  // Browsers also check the redirects that follow a post, and only the gateway knows its banks' addresses.
  const policy = pagePolicy(scriptHash, `${new URL(config.gateway.url).origin} https:`);

  return async (ctx: Context<PaymentWithHead>): Promise<void> => {
    const { head, payment } = ctx.state;
    const { transactionId } = payment.request;
    const attempt = readToken(ctx, transactionId, dependencies);
    if (isSettled(payment)) return leadToReceipt(ctx, transactionId, head.revision);
    if (bodyText(ctx, 'cancel') !== '') return cancel(ctx, dependencies);

    const choice = readChoice(ctx, offersFor(payment, config));
    if ('error' in choice) {
      ctx.status = 400;
      return drawPaymentPage(ctx, payment, dependencies, choice);
    }
    const chosen = await choose(ctx, attempt, choice, dependencies);
    if (chosen === 'attemptOpen') {
      ctx.status = 409;
      const { offer, bankCode } = choice;
      return drawPaymentPage(ctx, payment, dependencies, {
        error: chosen,
        chosenMode: offer.mode,
        chosenBank: bankCode,
      });
    }
    if (!chosen) return seeOther(ctx, links.receipt(transactionId));

    ctx.set('Content-Security-Policy', policy);
    await ctx.render('hand-over.njk', handOverPage(ctx, payment, chosen, choice, dependencies));
  };
}

const settledCodes: readonly RefusalCode[] = ['payment_succeeded', 'payment_pending', 'wrong_amount'];

type Choice = { offer: Offer; bankCode: string };

/** Records that the payer will not pay, and shows it; or says why this cannot be done yet. */
async function cancel(ctx: Context<PaymentWithHead>, dependencies: ChooseDependencies): Promise<void> {
  const { payment, head } = ctx.state;
  const { transactionId } = payment.request;
  const { execute, leadToReceipt, links, runtime } = dependencies;
  const command = { type: 'CancelPayment', at: runtime.now().toISOString() } as const;
  try {
    const cause = causeOf(ctx, 'payer');
    const { revision } = await execute(paymentStream(transactionId), command, cause, { from: head });
    return leadToReceipt(ctx, transactionId, revision);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (settledCodes.includes(error.code)) return seeOther(ctx, links.receipt(transactionId));
    if (error.code !== 'attempt_open') throw error;
    ctx.status = 409;
    await drawPaymentPage(ctx, payment, dependencies, {
      error: 'cancelOpen',
      chosenMode: '',
      chosenBank: '',
    });
  }
}

/** Records the choice; returns its attempt, or null when the payment has been settled meanwhile. */
async function choose(
  ctx: Context<PaymentWithHead>,
  attempt: number,
  { offer, bankCode }: Choice,
  { execute, runtime }: ChooseDependencies,
): Promise<Attempt | 'attemptOpen' | null> {
  const { payment, head } = ctx.state;
  const choice = {
    attempt,
    mode: offer.mode,
    bankCode,
    lang: languageOf(ctx),
    again: bodyText(ctx, 'again') !== '',
  };
  const at = runtime.now().toISOString();
  try {
    const { state } = await execute(
      paymentStream(payment.request.transactionId),
      { type: 'ChoosePaymentMethod', at, chargeSen: offer.chargeSen, ...choice },
      causeOf(ctx, 'payer'),
      { from: head },
    );
    return state.status === 'none' ? null : chosenAttempt(state, choice);
  } catch (error) {
    if (error instanceof Refused && settledCodes.includes(error.code)) return null;
    if (error instanceof Refused && error.code === 'attempt_open') return 'attemptOpen';
    throw error;
  }
}

/** The attempt that this form's page starts. Throws HttpProblem 401. */
function readToken(ctx: Context, transactionId: string, { tokens, links }: ChooseDependencies): number {
  const read = tokens.read(bodyText(ctx, 'token'), transactionId);
  if (typeof read === 'object') return read.number;
  const actionUrl = links.pay(transactionId);
  throw read === 'expired'
    ? new HttpProblem(401, 'This payment page has expired', { kind: 'expired', actionUrl })
    : new HttpProblem(401, 'The token of this payment page is not valid', { actionUrl });
}

/** What the payer chose, or what to tell the payer. A disabled control does not stop anybody from sending its value. */
function readChoice(ctx: Context, offers: readonly Offer[]): Choice | FormFault {
  const chosenMode = bodyText(ctx, 'method');
  const fault = (error: FormFault['error'], chosenBank = '') => ({ error, chosenMode, chosenBank });
  if (chosenMode === '') return fault('methodMissing');
  const offer = offers.find(({ mode }) => mode === chosenMode);
  if (!offer || offer.outsideLimits) return fault('methodUnavailable');
  if (offer.banks.length === 0) return { offer, bankCode: '' };
  const bankCode = bodyText(ctx, `bank_${chosenMode}`);
  if (bankCode === '') return fault('bankMissing');
  if (!offer.banks.some(({ code }) => code === bankCode)) return fault('bankUnknown', bankCode);
  return { offer, bankCode };
}

/** The page of a form that sends itself, or is sent by its button, to the gateway. */
function handOverPage(
  ctx: Context,
  payment: OpenPayment,
  attempt: Attempt,
  { offer, bankCode }: Choice,
  { config, links }: { config: Pick<Config, 'gateway'>; links: Links },
) {
  const lang = languageOf(ctx);
  const responseUrl = links.gatewayResult;
  const fields = handOverFields({ payment, attempt, responseUrl }, config.gateway.secret);
  return {
    lang,
    // The page cannot be opened again with GET.
    otherLanguageUrl: undefined,
    action: config.gateway.url,
    fields: Object.entries(fields).map(([name, value]) => ({ name, value })),
    amount: displaySen(addSen(outstandingSen(payment), attempt.chargeSen)),
    agency: payment.request.merchant.name,
    method: texts[lang].modes[offer.mode],
    bank: offer.banks.find(({ code }) => code === bankCode)?.name,
  };
}
