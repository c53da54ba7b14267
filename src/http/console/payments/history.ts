/** GET /console/payments/{id}/history.json?at=&revision=: what `ledger history --json` prints, for auditors' programs. */
import { entriesUntil, type History, readUntil } from '../../../audit/history/history.ts';
import { InvalidFields } from '../../../commands/fields.ts';
import { HttpProblem } from '../../server/errors.ts';
import { type Fields, readQuery } from '../frame/fields.ts';
import type { Page } from '../frame/page.ts';
import { loadHistory } from './load.ts';

export const answerHistory: Page = async (ctx, { eventStore, recordAccess }) => {
  const { entries, verdict } = await loadHistory(ctx, eventStore);
  const shown = entriesOrProblem({ entries, verdict }, readQuery(ctx));
  const transactionId = ctx.params.id ?? '';
  const last = shown.at(-1)?.revision ?? 0;
  await recordAccess(ctx, { what: 'history', transactionId, detail: `events 0 to ${last}` });
  ctx.body = { transactionId, entries: shown, verdict };
};

function entriesOrProblem(history: History, { at, revision }: Fields) {
  try {
    return entriesUntil(history, readUntil({ at, revision }));
  } catch (error) {
    // The message names the field, never its value.
    if (error instanceof InvalidFields) throw new HttpProblem(400, error.message);
    throw error;
  }
}
