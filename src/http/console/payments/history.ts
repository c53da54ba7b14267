/** GET /console/payments/{id}/history.json?at=&revision=: for auditors' programs, what `ledger history --json` prints. */
import { entriesUntil, readUntil } from '../../../audit/history/history.ts';
import { InvalidFields } from '../../../commands/fields.ts';
import type { Context } from '../../server/context.ts';
import { readQuery } from '../frame/form.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import type { ConsoleRoute } from '../frame/route.ts';
import type { Staff } from '../frame/staff.ts';
import { loadHistory } from './load.ts';

export function paymentHistoryRoutes(parts: ConsoleParts): ConsoleRoute[] {
  return [
    {
      method: 'get',
      path: '/console/payments/:id/history.json',
      action: 'lookAtPeople',
      handle: (ctx, staff) => showHistory(ctx, staff, parts),
    },
  ];
}

async function showHistory(
  ctx: Context,
  staff: Staff,
  { eventStore, recordLook }: ConsoleParts,
): Promise<void> {
  const { at, revision } = readQuery(ctx);
  const { entries, verdict } = await loadHistory(ctx, eventStore);
  const shown = entriesOrProblem({ entries, verdict }, { at, revision });
  const transactionId = ctx.params.id ?? '';
  const last = shown.at(-1)?.revision ?? 0;
  await recordLook(ctx, staff, { what: 'history', transactionId, detail: `events 0 to ${last}` });
  ctx.body = { transactionId, entries: shown, verdict };
}

function entriesOrProblem(
  history: Parameters<typeof entriesUntil>[0],
  typed: Parameters<typeof readUntil>[0],
) {
  try {
    return entriesUntil(history, readUntil(typed));
  } catch (error) {
    // Its message names the field, never what was sent in it.
    if (error instanceof InvalidFields) throw new ConsoleProblem(400, error.message);
    throw error;
  }
}
