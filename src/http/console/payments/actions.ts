/** What staff may do about one payment: have something sent again, and ask the registry what became of it. */
import { paymentStream } from '../../../events/payment.ts';
import { staffCause } from '../frame/access-log.ts';
import { readForm } from '../frame/form.ts';
import type { NoticeCode } from '../frame/notices.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import type { ConsoleRoute } from '../frame/route.ts';
import { paymentsPath } from './find.ts';
import { loadHistory, stateOf } from './load.ts';

export function actionRoutes({ clock, eventStore, execute, frame, registry }: ConsoleParts): ConsoleRoute[] {
  return [
    {
      method: 'post',
      path: '/console/payments/:id/send-again',
      action: 'sendAgain',
      async handle(ctx, staff) {
        const { head } = await loadHistory(ctx, eventStore);
        const { id = '' } = ctx.params;
        const { delivery = '' } = readForm(ctx);
        const command = { type: 'RequestDelivery', at: clock().toISOString(), delivery } as const;
        const { events } = await execute(paymentStream(id), command, staffCause(ctx, staff), { from: head });
        frame.done(ctx, `${paymentsPath}/${id}`, events.length > 0 ? 'sent-again' : 'already-due');
      },
    },
    {
      method: 'post',
      path: '/console/payments/:id/requery',
      action: 'requery',
      async handle(ctx, staff) {
        const history = await loadHistory(ctx, eventStore);
        const payment = stateOf(history);
        if (!payment) throw new ConsoleProblem(409, 'This payment cannot be read');
        const { channel, merchant, transactionId } = payment.request;
        const answer =
          channel === 'landreg'
            ? await registry.askByTransaksiId(payment.request)
            : await registry.ask(transactionId);
        const { events } = await execute(
          paymentStream(transactionId),
          {
            type: 'RecordRequeryAnswer',
            at: clock().toISOString(),
            channel,
            merchantCode: merchant.code,
            answer,
          },
          staffCause(ctx, staff),
          { from: history.head },
        );
        const hasNews = events.some(({ type }) => type !== 'RequeryAnswered');
        const otherwise: NoticeCode = answer.status === 'not_found' ? 'requery-not-found' : 'requery-no-news';
        frame.done(ctx, `${paymentsPath}/${transactionId}`, hasNews ? 'requery-news' : otherwise);
      },
    },
  ];
}
