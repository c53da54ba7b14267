/** POST /console/payments/{id}/requery: asks the registry what became of a payment, and records the answer. */
import { paymentStream } from '../../../events/payment.ts';
import { HttpProblem } from '../../server/errors.ts';
import { staffCause } from '../frame/access-log.ts';
import { leadTo } from '../frame/frame.ts';
import type { Page } from '../frame/page.ts';
import { loadHistory } from './load.ts';
import { paymentsPath } from './search.ts';

export const requery: Page = async (ctx, { eventStore, execute, registry, runtime }) => {
  const { head, payment } = await loadHistory(ctx, eventStore);
  if (!payment) throw new HttpProblem(409, 'This payment cannot be read');
  const { channel, merchant, transactionId } = payment.request;
  const answer =
    channel === 'landreg'
      ? await registry.askByTransaksiId(payment.request)
      : await registry.ask(transactionId);
  const at = runtime.now().toISOString();
  const { events } = await execute(
    paymentStream(transactionId),
    { type: 'RecordRequeryAnswer', at, channel, merchantCode: merchant.code, answer },
    staffCause(ctx),
    { from: head },
  );
  const hasNews = events.some(({ type }) => type !== 'RequeryAnswered');
  const otherwise = answer.status === 'not_found' ? 'requery-not-found' : 'requery-no-news';
  leadTo(ctx, `${paymentsPath}/${transactionId}`, hasNews ? 'requery-news' : otherwise);
};
