/** Callbacks and emails that are due or given up. */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Reading } from '@ledger/observability/metrics.ts';
import { emptyIfUndefined } from '@ledger/postgres/error-codes.ts';
import type { Knex } from 'knex';
import { deliveryKinds } from '../../events/deliveries.ts';
import { toDoSchema } from '../../to-do/table.ts';

export const readDeliveries = (db: Knex, runtime: Pick<Runtime, 'now'>) => async (): Promise<Reading[]> => {
  type Row = { kind: string; due: number; givenUp: number; overdue: number };
  const query = db.raw<{ rows: Row[] }>(
    `select kind, count(*) filter (where state = 'due') as due,
       count(*) filter (where state = 'abandoned') as "givenUp",
       extract(epoch from ? - min(due_at) filter (where state = 'due'))::float8 as overdue
     from ${toDoSchema}.deliveries where state in ('due', 'abandoned') group by kind`,
    [runtime.now()],
  );
  const rows = await emptyIfUndefined(query.timeout(5_000));
  return deliveryKinds.flatMap((kind): Reading[] => {
    const row = rows.find((each) => each.kind === kind);
    return [
      ['ledger_deliveries_due', row?.due ?? 0, kind],
      ['ledger_deliveries_oldest_due_seconds', Math.max(0, row?.overdue ?? 0), kind],
      ['ledger_deliveries_given_up', row?.givenUp ?? 0, kind],
    ];
  });
};
