/** GET /console/payments/{id}/history.json?at=&revision=: what `ledger history --json` prints, for auditors' programs. */
import { entriesUntil, readUntil } from '../../../audit/history/history.ts';
import { loadHistory } from '../../server/load-history.ts';
import { readQuery } from '../frame/forms-and-lists.ts';
import type { Page } from '../frame/page.ts';

export const answerHistory: Page = async (ctx, { eventStore, recordAccess }) => {
  const { entries, verdict } = await loadHistory(ctx, eventStore);
  const { at, revision } = readQuery(ctx);
  const shown = entriesUntil({ entries }, readUntil({ at, revision }));
  const transactionId = ctx.params.id ?? '';
  const last = shown.at(-1)?.revision ?? 0;
  await recordAccess(ctx, { what: 'history', transactionId, detail: `events 0 to ${last}` });
  ctx.body = { transactionId, entries: shown, verdict };
};
