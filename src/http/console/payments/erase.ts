/** Erases the personal data of a payment or of an unmatched result, after staff have confirmed it. */
import { type HeldKeys, isHolding } from '@ledger/personal-data/sealed.ts';
import { type Context, HttpProblem } from '../../server/context.ts';
import { loadRequested } from '../../server/load-history.ts';
import type { FormPage } from '../frame/form-page.ts';
import { leadTo, type PageDependencies, staffCause } from '../frame/page.ts';
import { paymentsPath } from './search.ts';

type ToErase = {
  /** The subject of the `Erasure`. */
  subject: string;
  /** The payment's reference; absent for an unmatched result. */
  reference?: string;
  /** The path of its own page. */
  path: string;
  personalData: HeldKeys;
};

/** Throws HttpProblem 404. */
type Find = (ctx: Context, dependencies: PageDependencies) => Promise<ToErase>;

const findPaymentToErase: Find = async (ctx, { eventStore }) => {
  const { payment } = await loadRequested(ctx, eventStore);
  const { transactionId, reference } = payment.request;
  const path = `${paymentsPath}/${transactionId}`;
  return { subject: transactionId, reference, path, personalData: payment.personalData };
};

export const eraseForm = (find: Find): FormPage => ({
  template: 'payments/erase.njk',
  async model(ctx, dependencies) {
    const { path, personalData, reference = '' } = await find(ctx, dependencies);
    const { erasedAt, plain: isInPlainText } = personalData;
    return { reference, path, isHolding: isHolding(personalData), isInPlainText, erasedAt };
  },
  async submit(ctx, dependencies) {
    const { subject, path } = await find(ctx, dependencies);
    const { actor } = staffCause(ctx);
    await dependencies.erase([{ subject, reason: 'requested', actor }]).catch((err: unknown) => {
      dependencies.log.error({ err, requestId: ctx.state.requestId }, 'personal data could not be erased');
      throw new HttpProblem(
        503,
        'The stores do not answer. If the erasure had begun, it completes by itself; look again in a few minutes',
      );
    });
    leadTo(ctx, path, 'erased');
  },
});

export const erasePayment = eraseForm(findPaymentToErase);
