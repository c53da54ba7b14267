/** /console/payments/{id}/erase: erases a payment's personal data, after staff have confirmed it. */
import { isHolding } from '../../../events/personal-data.ts';
import { HttpProblem } from '../../server/errors.ts';
import { leadTo } from '../frame/frame.ts';
import type { Page } from '../frame/page.ts';
import { staffCause } from '../frame/record-access.ts';
import { loadHistory } from './load.ts';
import { paymentsPath } from './search.ts';

export const confirmErase: Page = async (ctx, { eventStore, show }) => {
  const { payment } = await loadHistory(ctx, eventStore);
  if (!payment) throw new HttpProblem(404, 'There is no payment with this id');
  const { transactionId, reference } = payment.request;
  await show(ctx, 'payments/erase.njk', {
    title: `Erase the personal data of ${reference}`,
    path: `${paymentsPath}/${transactionId}`,
    isHolding: isHolding(payment.personalData),
    isInPlainText: payment.personalData.plain,
    erasedAt: payment.personalData.erasedAt,
  });
};

export const eraseNow: Page = async (ctx, { erase, eventStore, log }) => {
  const { payment } = await loadHistory(ctx, eventStore);
  if (!payment) throw new HttpProblem(404, 'There is no payment with this id');
  const { transactionId } = payment.request;
  const { actor } = staffCause(ctx);
  try {
    await erase([{ transactionId, reason: 'requested', actor }]);
  } catch (err) {
    log.error({ err, requestId: ctx.state.requestId }, 'personal data could not be erased');
    throw new HttpProblem(
      503,
      'The stores do not answer. If the erasure had begun, it completes by itself; look again in a few minutes',
    );
  }
  leadTo(ctx, `${paymentsPath}/${transactionId}`, 'erased');
};
