/**
 * The events of a payment as they were recorded. GET /console/payments/{id}/events/{revision}: one, as evidence. GET
 * /console/payments/{id}/history.json?at=&revision=: what `ledger history --json` prints, for auditors' programs.
 */
import { entriesUntil, readUntil } from '../../../audit/history/history.ts';
import { openData } from '../../../audit/history/open-data.ts';
import { paymentStream } from '../../../events/payment.ts';
import { HttpProblem } from '../../server/context.ts';
import { loadHistory } from '../../server/load-history.ts';
import { readQuery } from '../frame/forms-and-lists.ts';
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

export const answerHistory: Page = async (ctx, { eventStore, recordAccess }) => {
  const { entries, verdict } = await loadHistory(ctx, eventStore);
  const { at, revision } = readQuery(ctx);
  const shown = entriesUntil({ entries, verdict }, readUntil({ at, revision }));
  const transactionId = ctx.params.id ?? '';
  const last = shown.at(-1)?.revision ?? 0;
  await recordAccess(ctx, { what: 'history', transactionId, detail: `events 0 to ${last}` });
  ctx.body = { transactionId, entries: shown, verdict };
};
