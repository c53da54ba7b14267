/** What is about people, or may be: who pays, and events as they were recorded. Each look is recorded before it is shown. */
import type { RequestedPayment } from '../../../events/payment.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import type { ConsoleRoute } from '../frame/route.ts';
import { paymentsPath } from './find.ts';
import { loadHistory, stateOf } from './load.ts';

export function peopleRoutes({ eventStore, frame, recordLook }: ConsoleParts): ConsoleRoute[] {
  return [
    {
      method: 'get',
      path: '/console/payments/:id/payer',
      action: 'lookAtPeople',
      async handle(ctx, staff) {
        const payment = stateOf(await loadHistory(ctx, eventStore));
        if (!payment) throw new ConsoleProblem(404, 'This payment does not say who pays');
        const { request } = payment;
        const { transactionId } = request;
        await recordLook(ctx, staff, { what: 'payer', transactionId, detail: '' });
        await frame.show(ctx, 'payments/payer.njk', {
          title: `Payer of ${request.reference}`,
          backUrl: `${paymentsPath}/${transactionId}`,
          request,
          extra: Object.entries(request.extra).map(([name, value]) => ({
            name,
            value: typeof value === 'string' ? value : JSON.stringify(value),
          })),
          facts: factsAbout(payment),
        });
      },
    },
    {
      method: 'get',
      path: '/console/payments/:id/events/:revision',
      action: 'lookAtPeople',
      async handle(ctx, staff) {
        const { entries } = await loadHistory(ctx, eventStore);
        const { id = '', revision = '' } = ctx.params;
        const entry = entries.find((each) => String(each.revision) === revision);
        if (!entry) throw new ConsoleProblem(404, 'This payment has no such event');
        await recordLook(ctx, staff, {
          what: 'evidence',
          transactionId: id,
          detail: `event ${entry.revision}`,
        });
        const { state: _, ...evidence } = entry;
        await frame.show(ctx, 'payments/evidence.njk', {
          title: `Event ${entry.revision}, ${entry.type}`,
          backUrl: `${paymentsPath}/${id}`,
          entry,
          json: JSON.stringify(evidence, null, 2),
          previous: entries.some((each) => each.revision === entry.revision - 1) ? entry.revision - 1 : null,
          next: entries.some((each) => each.revision === entry.revision + 1) ? entry.revision + 1 : null,
        });
      },
    },
  ];
}

/** What the merchant and the bank said of who pays, where they said something. */
function factsAbout({ request, results }: RequestedPayment) {
  const { payer } = request;
  const place = `${payer.postcode} ${payer.city}`.trim();
  const address = [payer.address1, payer.address2, place, payer.state].filter((part) => part !== '');
  const buyers = [...new Set(results.map(({ buyerName }) => buyerName))];
  return [
    { label: 'Name', text: payer.name },
    { label: 'Email', text: payer.email },
    { label: 'IC number', text: payer.icNo },
    { label: 'Phone', text: payer.phoneNo },
    { label: 'Address', text: address.join(', ') },
    ...buyers.map((text) => ({ label: 'Named by the bank', text })),
  ].filter(({ text }) => text !== '');
}
