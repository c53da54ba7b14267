/** POST /<channel>/pay/{id}: records the method that a payer chose, and takes the payer to the gateway. */
import { handOverFields } from '../../clients/gateway/hand-over.ts';
import { type RefusalCode, Refused } from '../../commands/decider.ts';
import { chosenAttempt, type PaymentCommand } from '../../commands/payment.ts';
import { refusalToBegin } from '../../commands/refusal-to-pay.ts';
import { addSen, displaySen } from '../../common/money.ts';
import { outstandingSen } from '../../events/adjustments.ts';
import type { OpenPayment } from '../../events/open-payment.ts';
import { type Attempt, paymentStream } from '../../events/payment.ts';
import { bodyText } from '../server/body.ts';
import { askedLanguage, type Context, causeOf, HttpProblem, languageOf } from '../server/context.ts';
import { scriptHash } from '../server/inline-style.ts';
import { pagePolicy } from '../server/security-headers.ts';
import { agencyTexts } from './agency.ts';
import type { PaymentChannel } from './channel.ts';
import type { PaymentWithHead } from './load-payment.ts';
import { type Offer, offersFor } from './payment-methods.ts';
import { drawPaymentPage, type FormFault } from './payment-page.ts';
import { texts } from './texts.ts';

export async function chooseMethod(ctx: Context<PaymentWithHead>, channel: PaymentChannel): Promise<void> {
  const { config, leadToReceipt, runtime } = channel;
  const { head, payment } = ctx.state;
  const { transactionId } = payment.request;
  const attempt = readToken(ctx, transactionId, channel);
  const at = runtime.now().toISOString();
  if (refusalToBegin(payment, at)) return leadToReceipt(ctx, transactionId, head.revision);
  const again = bodyText(ctx, 'again') !== '';
  const drawFault = (status: number, fault: FormFault) => {
    ctx.status = status;
    return drawPaymentPage(ctx, payment, channel, { ...fault, again });
  };

  if (bodyText(ctx, 'cancel') !== '') {
    const cancelled = await carryOut(ctx, { type: 'CancelPayment', at, source: 'payer' }, channel);
    if (cancelled === 'open') return drawFault(409, { error: 'cancelOpen', chosenMode: '', chosenBank: '' });
    return leadToReceipt(ctx, transactionId, cancelled === 'settled' ? 'no_stream' : cancelled.revision);
  }

  const choice = readChoice(ctx, offersFor(payment, config));
  if ('error' in choice) return drawFault(400, choice);
  const { offer, bankCode } = choice;
  const chosen = { attempt, mode: offer.mode, bankCode };
  // The same page sent twice is one attempt.
  if (!chosenAttempt(payment, chosen)) {
    const shownFee = bodyText(ctx, `fee_${offer.mode}`);
    if (shownFee !== '' && shownFee !== String(offer.chargeSen))
      return drawFault(409, { error: 'feeChanged', chosenMode: offer.mode, chosenBank: bankCode });
    if (choice.isDown && bodyText(ctx, 'bank_down') !== bankCode)
      return drawFault(409, { error: 'bankDown', chosenMode: offer.mode, chosenBank: bankCode });
    await ctx.state.spend('attempts', transactionId);
  }
  const more = { at, chargeSen: offer.chargeSen, lang: languageOf(ctx), again };
  const recorded = await carryOut(ctx, { type: 'ChoosePaymentMethod', ...chosen, ...more }, channel);
  if (recorded === 'open')
    return drawFault(409, { error: 'attemptOpen', chosenMode: offer.mode, chosenBank: bankCode });
  const now = recorded === 'settled' || recorded.state.status === 'none' ? null : recorded.state;
  const made = now && chosenAttempt(now, chosen);
  // The payment has been settled meanwhile.
  if (!made) return leadToReceipt(ctx, transactionId, 'no_stream');

  // Browsers also check the redirects that follow a post, and only the gateway knows its banks' addresses.
  const formActions = `${new URL(config.gateway.url).origin} https:`;
  ctx.set('Content-Security-Policy', pagePolicy(scriptHash, formActions));
  // What is outstanding may have changed since the payment was read.
  const asked = { ...now, request: payment.request };
  await ctx.render('hand-over.njk', handOverPage(ctx, asked, made, choice, channel));
}

type Choice = { offer: Offer; bankCode: string; isDown: boolean };

const settledCodes: readonly RefusalCode[] = [
  'payment_succeeded',
  'payment_pending',
  'payment_closed',
  'wrong_amount',
];

/** The outcome of the payer's command. `settled`: nothing is left to pay. `open`: an attempt is open. */
async function carryOut(
  ctx: Context<PaymentWithHead>,
  command: PaymentCommand,
  { execute }: PaymentChannel,
): Promise<Awaited<ReturnType<PaymentChannel['execute']>> | 'settled' | 'open'> {
  const { head, payment } = ctx.state;
  const stream = paymentStream(payment.request.transactionId);
  try {
    return await execute(stream, command, causeOf(ctx, 'payer'), { from: head });
  } catch (error) {
    if (error instanceof Refused && settledCodes.includes(error.code)) return 'settled';
    if (error instanceof Refused && error.code === 'attempt_open') return 'open';
    throw error;
  }
}

/** The attempt that this form's page starts. Throws HttpProblem 401. */
function readToken(ctx: Context, transactionId: string, { tokens, links }: PaymentChannel): number {
  const read = tokens.read(bodyText(ctx, 'token'), transactionId);
  if (typeof read === 'object') return read.number;
  const actionUrl = links.pay(transactionId, askedLanguage(ctx), ctx.state.linkEndsAtMs);
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
  if (offer.banks.length === 0) return { offer, bankCode: '', isDown: false };
  const bankCode = bodyText(ctx, `bank_${chosenMode}`);
  if (bankCode === '') return fault('bankMissing');
  const bank = offer.banks.find(({ code }) => code === bankCode);
  if (!bank) return fault('bankUnknown', bankCode);
  return { offer, bankCode, isDown: bank.down ?? false };
}

function handOverPage(
  ctx: Context,
  payment: Pick<OpenPayment, 'request' | 'paidSen'>,
  attempt: Attempt,
  { offer, bankCode }: Choice,
  { config, links }: PaymentChannel,
) {
  const lang = languageOf(ctx);
  const responseUrl = links.gatewayResult;
  return {
    lang,
    // The page cannot be opened again with GET.
    otherLanguageUrl: undefined,
    action: config.gateway.url,
    fields: handOverFields({ payment, attempt, responseUrl }, config.gateway.secret),
    amount: displaySen(addSen(outstandingSen(payment), attempt.chargeSen)),
    agency: agencyTexts(config.merchants, payment.request.merchant, lang).agency,
    method: texts[lang].modes[offer.mode],
    bank: offer.banks.find(({ code }) => code === bankCode)?.name,
  };
}
