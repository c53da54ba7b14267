/** GET /console/payments/{id}/events/{revision}: an event as it was recorded, as evidence. */
import { HttpProblem } from '../../server/errors.ts';
import type { Page } from '../frame/page.ts';
import { loadHistory } from './load.ts';
import { paymentsPath } from './search.ts';

export const showEvent: Page = async (ctx, { eventStore, recordAccess, show }) => {
  const { entries } = await loadHistory(ctx, eventStore);
  const { id = '', revision: asked = '' } = ctx.params;
  const entry = entries.find(({ revision }) => String(revision) === asked);
  if (!entry) throw new HttpProblem(404, 'This payment has no such event');
  const { state: _, ...evidence } = entry;
  const { revision } = entry;
  await recordAccess(ctx, { what: 'evidence', transactionId: id, detail: `event ${revision}` });
  await show(ctx, 'payments/event.njk', {
    title: `Event ${revision}, ${entry.type}`,
    backUrl: `${paymentsPath}/${id}`,
    entry,
    json: JSON.stringify(evidence, null, 2),
    neighbours: entries.map((each) => each.revision).filter((each) => Math.abs(each - revision) === 1),
  });
};
