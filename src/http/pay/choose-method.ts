/** /<channel>/pay/{id}: the payment page again (GET), and the choice of a method that takes the payer to the gateway (POST). */
import { handOverFields } from '../../clients/gateway/hand-over.ts';
import { Refused } from '../../commands/decider.ts';
import { chosenAttempt } from '../../commands/payment.ts';
import { type Attempt, paymentStream, type RequestedPayment } from '../../events/payment.ts';
import { addSen, displaySen } from '../../kernel/money.ts';
import type { Links } from '../../receipts/payment-links.ts';
import { type Context, causeOf, languageOf, seeOther } from '../server/context.ts';
import { HttpProblem } from '../server/errors.ts';
import { scriptHash } from '../server/inline-style.ts';
import { pagePolicy } from '../server/security-headers.ts';
import type { PayDependencies } from './dependencies.ts';
import type { HandOverPage } from './models.ts';
import type { PageTokens } from './page-token.ts';
import { isSettled, type PayerPages } from './pages.ts';
import type { Offer } from './payment-methods.ts';
import type { FormFault } from './payment-page.ts';
import type { ReadPayment } from './read-payment.ts';
import { texts } from './texts.ts';

type ChooseDependencies = {
  config: Pick<PayDependencies['config'], 'gateway'>;
  execute: PayDependencies['execute'];
  readPayment: ReadPayment;
  pages: PayerPages;
  links: Links;
  tokens: PageTokens;
  clock: () => Date;
};

export function createShowPaymentPage({ readPayment, pages, links }: ChooseDependencies) {
  return async (ctx: Context): Promise<void> => {
    const { payment } = await readPayment(ctx.params.id ?? '');
    if (isSettled(payment)) return seeOther(ctx, links.receipt(payment.request.transactionId));
    await pages.showPaymentPage(ctx, payment);
  };
}

export function createChooseMethod(dependencies: ChooseDependencies) {
  const { config, readPayment, pages, links } = dependencies;
  // Browsers also check the redirects that follow a post, and the gateway redirects to banks that only it knows.
  const policy = pagePolicy(scriptHash, `${new URL(config.gateway.url).origin} https:`);

  return async (ctx: Context): Promise<void> => {
    const { payment, head } = await readPayment(ctx.params.id ?? '');
    const form = formOf(ctx.request.body);
    const { transactionId } = payment.request;
    const attempt = attemptOfToken(form('token'), transactionId, dependencies);
    if (isSettled(payment)) return seeOther(ctx, links.receipt(transactionId));

    const choice = readChoice(form, pages.offers(payment));
    if ('error' in choice) {
      ctx.status = 400;
      return pages.showPaymentPage(ctx, payment, choice);
    }
    const chosen = await choose(ctx, { payment, head }, attempt, choice, dependencies);
    if (!chosen) return seeOther(ctx, links.receipt(transactionId));

    ctx.set('Content-Security-Policy', policy);
    await ctx.render('hand-over.njk', handOverPage(ctx, payment, chosen, choice, dependencies));
  };
}

type Choice = { offer: Offer; bankCode: string };

/** Records the choice, and answers the attempt that it made now or made before; null when the payment was settled meanwhile. */
async function choose(
  ctx: Context,
  { payment, head }: Awaited<ReturnType<ReadPayment>>,
  attempt: number,
  { offer, bankCode }: Choice,
  { execute, clock }: ChooseDependencies,
): Promise<Attempt | null> {
  const choice = { attempt, mode: offer.mode, bankCode };
  try {
    const { state } = await execute(
      paymentStream(payment.request.transactionId),
      {
        type: 'ChoosePaymentMethod',
        at: clock().toISOString(),
        chargeSen: offer.chargeSen,
        ...choice,
      },
      causeOf(ctx, 'payer'),
      { from: head },
    );
    return state.status === 'none' ? null : chosenAttempt(state, choice);
  } catch (error) {
    if (error instanceof Refused && (error.code === 'payment_succeeded' || error.code === 'payment_pending'))
      return null;
    throw error;
  }
}

function attemptOfToken(
  token: string,
  transactionId: string,
  { tokens, links, clock }: ChooseDependencies,
): number {
  const read = tokens.read(token, transactionId, clock());
  if (typeof read === 'object') return read.attempt;
  const actionUrl = links.pay(transactionId);
  throw read === 'expired'
    ? new HttpProblem(401, 'This payment page has expired', { kind: 'expired', actionUrl })
    : new HttpProblem(401, 'The token of this payment page is not valid', { actionUrl });
}

/** What the payer chose among the offers, or what to tell the payer. Disabled controls are no defence. */
function readChoice(form: (name: string) => string, offers: readonly Offer[]): Choice | FormFault {
  const chosenMode = form('method');
  const fault = (error: FormFault['error'], chosenBank = '') => ({ error, chosenMode, chosenBank });
  if (chosenMode === '') return fault('methodMissing');
  const offer = offers.find(({ mode }) => mode === chosenMode);
  if (!offer || offer.outsideLimits) return fault('methodUnavailable');
  if (offer.banks.length === 0) return { offer, bankCode: '' };
  const bankCode = form(`bank_${chosenMode}`);
  if (bankCode === '') return fault('bankMissing');
  if (!offer.banks.some(({ code }) => code === bankCode)) return fault('bankUnknown', bankCode);
  return { offer, bankCode };
}

function handOverPage(
  ctx: Context,
  { request }: RequestedPayment,
  attempt: Attempt,
  { offer, bankCode }: Choice,
  { config, links }: ChooseDependencies,
): HandOverPage {
  const lang = languageOf(ctx);
  const totalSen = addSen(request.amountSen, attempt.chargeSen);
  const fields = handOverFields(
    {
      merchantCode: request.merchant.code,
      transactionId: request.transactionId,
      sellerOrderNo: attempt.sellerOrderNo,
      totalSen,
      mode: offer.mode,
      bankCode,
      description: request.description,
      buyerName: request.payer.name,
      buyerEmail: request.payer.email,
      responseUrl: links.gatewayResult,
      transaksiId: request.channel === 'landreg' ? request.reference : '',
    },
    config.gateway.secret,
  );
  return {
    lang,
    action: config.gateway.url,
    fields: Object.entries(fields).map(([name, value]) => ({ name, value })),
    amount: displaySen(totalSen),
    agency: request.merchant.name,
    method: texts[lang].modes[offer.mode],
    bank: offer.banks.find(({ code }) => code === bankCode)?.name,
  };
}

/** The posted form by name; a field that was sent twice is as good as none. */
function formOf(body: unknown): (name: string) => string {
  return (name) => {
    const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
    return typeof value === 'string' ? value : '';
  };
}
