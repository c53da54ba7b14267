/** GET /console/payments/{id}/events/{revision}: an event as it was recorded, as evidence. */
import { openData } from '../../../audit/history/open-data.ts';
import { paymentStream } from '../../../events/payment.ts';
import { HttpProblem } from '../../server/context.ts';
import { loadHistory } from '../../server/load-history.ts';
import type { Page } from '../frame/page.ts';
import { paymentsPath } from './search.ts';

export const showEvent: Page = async (ctx, { eventStore, personalData, recordAccess, show }) => {
  const { entries } = await loadHistory(ctx, eventStore);
  const { id = '', revision: asked = '' } = ctx.params;
  const entry = entries.find(({ revision }) => String(revision) === asked);
  if (!entry) throw new HttpProblem(404, 'This payment has no such event');
  const { state: _, ...evidence } = entry;
  const { revision } = entry;
  await recordAccess(ctx, { what: 'evidence', transactionId: id, detail: `event ${revision}` });
  const opened = await openData(entry.data, paymentStream(id), personalData.open);
  await show(ctx, 'payments/event.njk', {
    backUrl: `${paymentsPath}/${id}`,
    entry,
    json: JSON.stringify(evidence, null, 2),
    opened: opened !== entry.data ? JSON.stringify(opened, null, 2) : null,
    neighbours: entries.map((each) => each.revision).filter((each) => Math.abs(each - revision) === 1),
  });
};
