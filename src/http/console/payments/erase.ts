/** Erases the personal data of a payment or of an unmatched result, after staff have confirmed it. */
import { type HeldKeys, isHolding } from '@ledger/personal-data/sealed.ts';
import { type Context, HttpProblem } from '../../server/context.ts';
import { loadHistory, noSuchPayment } from '../../server/load-history.ts';
import { leadTo, type Page, type PageDependencies, staffCause } from '../frame/page.ts';
import { paymentsPath } from './search.ts';

export type ToErase = {
  /** Of an `Erasure`. */
  subject: string;
  /** Of the payment; absent for an unmatched result. */
  reference?: string;
  /** Of its own page. */
  path: string;
  personalData: HeldKeys;
};

/** Throws HttpProblem 404. */
type Find = (ctx: Context, dependencies: PageDependencies) => Promise<ToErase>;

export const findPaymentToErase: Find = async (ctx, { eventStore }) => {
  const { payment } = await loadHistory(ctx, eventStore);
  if (!payment) throw noSuchPayment();
  const { transactionId, reference } = payment.request;
  const path = `${paymentsPath}/${transactionId}`;
  return { subject: transactionId, reference, path, personalData: payment.personalData };
};

export const confirmErase =
  (find: Find): Page =>
  async (ctx, dependencies) => {
    const { path, personalData, reference = '' } = await find(ctx, dependencies);
    await dependencies.show(ctx, 'payments/erase.njk', {
      reference,
      path,
      isHolding: isHolding(personalData),
      isInPlainText: personalData.plain,
      erasedAt: personalData.erasedAt,
    });
  };

export const eraseNow =
  (find: Find): Page =>
  async (ctx, dependencies) => {
    const { subject, path } = await find(ctx, dependencies);
    const { actor } = staffCause(ctx);
    try {
      await dependencies.erase([{ subject, reason: 'requested', actor }]);
    } catch (err) {
      dependencies.log.error({ err, requestId: ctx.state.requestId }, 'personal data could not be erased');
      throw new HttpProblem(
        503,
        'The stores do not answer. If the erasure had begun, it completes by itself; look again in a few minutes',
      );
    }
    leadTo(ctx, path, 'erased');
  };
