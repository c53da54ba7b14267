/** What the pages of a payment say at a moment, compared with what the bank knows. */
import { fileURLToPath } from 'node:url';
import { displaySen } from '../../../src/common/money.ts';
import { loadPaymentMethods } from '../../../src/config/payment-methods.ts';
import type { RequestedPayment } from '../../../src/events/payment.ts';
import type { PaymentChannel } from '../../../src/http/pay/channel.ts';
import { createPageTokens } from '../../../src/http/pay/page-token.ts';
import * as paymentPage from '../../../src/http/pay/payment-page.ts';
import * as receiptPage from '../../../src/http/pay/receipt-page.ts';
import type { Context } from '../../../src/http/server/context.ts';
import { paymentFields } from '../../../src/receipts/payment-fields.ts';
import { createLinks } from '../../../src/receipts/payment-links.ts';
import { opened } from '../../support/payments.ts';
import { type BankRecord, isCharge, type Life, resultOf, whereabouts } from './life.ts';

const runtime = { now: () => new Date(0) };
const linkKeys = { current: 'a key for tests', others: [], original: 'another' };
const keys = { baseUrl: 'https://pay.example', linkKeys };
const methodsFile = fileURLToPath(new URL('../../../config/payment-methods.yaml', import.meta.url));
const dependencies = {
  config: { merchants: new Map(), methods: loadPaymentMethods(methodsFile) },
  links: createLinks({ ...keys, runtime }).generic,
  tokens: createPageTokens('payment page token', { ...keys, runtime }),
  emailTokens: createPageTokens('receipt email token', { ...keys, runtime }),
  runtime,
} as unknown as PaymentChannel;
/** With a copy of the methods, because a page that was kept with them would not be drawn again. */
const showPaymentPage = (ctx: never) => {
  const config = { ...dependencies.config, methods: new Map(dependencies.config.methods) };
  return paymentPage.showPaymentPage(ctx, { ...dependencies, config });
};
const showReceipt = (ctx: never) => receiptPage.showReceipt(ctx, dependencies);

type Model = {
  status: string;
  payUrl: string | undefined;
  isOfficial: boolean;
  otherCharges: string[];
  openAttempts: string[];
};

/** The model that a page is drawn from; null if it leads elsewhere. */
async function modelOf(
  page: (ctx: never) => Promise<void>,
  payment: RequestedPayment,
): Promise<Model | null> {
  let drawn: Model | null = null;
  const ctx = {
    state: { payment: opened(payment), asAt: null },
    query: { lang: 'en' },
    redirect: () => undefined,
    render: async (_: string, model: Model) => {
      drawn = model;
    },
  };
  await page(ctx as unknown as Context as never);
  return drawn;
}

/** Throws if a page says something else than is true of the charges at the bank. */
export async function lookAtPages(life: Life): Promise<void> {
  const { state } = life;
  const receipt = await modelOf(showReceipt, state);
  const pay = await modelOf(showPaymentPage, state);
  if (!receipt) throw new Error('The receipt page leads elsewhere');
  const charges = life.bank.filter(isCharge).filter(({ takenBackAt }) => takenBackAt === null);
  const said = receipt.otherCharges.join(' ');
  const complain = (what: string) => {
    throw new Error(`${what}: ${JSON.stringify({ ...receipt, pay: pay !== null, charges }, null, 1)}`);
  };
  for (const charge of charges) {
    const where = whereabouts(state, charge);
    const found = resultOf(state, charge);
    // The gateway has told otherwise, or has told of one charge of an order that it charged twice.
    const isHeard = (each: BankRecord) =>
      each.attempt === charge.attempt && whereabouts(state, each) !== 'not known';
    if (
      where === 'not known' &&
      (charge.isDenied || life.bank.some((each) => isCharge(each) && isHeard(each)))
    )
      continue;
    if (where === 'paid' && found?.role === 'applied' && (!receipt.isOfficial || pay))
      complain('What was paid has no receipt');
    if (where === 'open' && state.status !== 'succeeded' && (receipt.status !== 'wrongAmount' || pay))
      complain('Money of a wrong amount is there, and the payer can pay again');
    if (where === 'open' && !said.includes(displaySen(found?.amountSen ?? charge.sen)))
      complain('Nothing is said of money in suspense');
    const isBack = where === 'refunded' || where === 'taken back';
    if (!isBack && (receipt.status === 'failed' || receipt.status === 'cancelled'))
      complain('A payer who was charged is told that nothing was');
    if (where === 'not known' && pay && pay.openAttempts.length === 0)
      complain('A payer who was charged is asked for the money again');
    if (where === 'refunded' && !/returned to you on/.test(said))
      complain('Nothing is said of money returned');
  }
  if ((receipt.payUrl === undefined) !== (pay === null))
    complain('The pages disagree whether it can be paid');
  const fields = paymentFields(opened(state));
  if ((fields.status === '1') !== receipt.isOfficial)
    complain('The merchant is told otherwise than the payer');
  if (receipt.status === 'wrongAmount' && `${fields.status} ${fields.status_detail}` !== '3 wrong_amount')
    complain('The merchant does not hear of the wrong amount');
  if (life.isPaid && fields.status !== '1') complain('A success was taken back');
  life.isPaid ||= fields.status === '1';
  if (receipt.isOfficial && !life.bank.some(isCharge)) complain('A receipt without a charge');
}
