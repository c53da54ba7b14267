/** Callbacks and emails that are due or given up. */
import type { Knex } from 'knex';
import type { DeliveryKind } from '../../events/deliveries.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { emptyIfUndefined } from '../../postgres/error-codes.ts';
import { toDoSchema } from '../../to-do/table.ts';
import type { GaugeSource } from '../metrics.ts';

const kinds: readonly DeliveryKind[] = ['callback', 'item', 'email'];

export function deliveries(db: Knex, runtime: Pick<Runtime, 'now'>): GaugeSource {
  return {
    name: 'deliveries',
    label: 'kind',
    gauges: {
      ledger_deliveries_due: 'Deliveries that are waiting for an attempt, or for the next one',
      ledger_deliveries_oldest_due_seconds: 'For how long the next attempt of a delivery has been due',
      ledger_deliveries_given_up: 'Deliveries that nobody will attempt again unless staff do',
    },
    async read() {
      type Row = { kind: string; due: number; givenUp: number; oldest: Date | null };
      const query = db.raw<{ rows: Row[] }>(
        `select kind, count(*) filter (where state = 'due') as due,
           count(*) filter (where state = 'abandoned') as "givenUp",
           min(due_at) filter (where state = 'due') as oldest
         from ${toDoSchema}.deliveries where state in ('due', 'abandoned') group by kind`,
      );
      const rows = await emptyIfUndefined(query.timeout(5_000));
      const nowMs = runtime.now().getTime();
      return kinds.flatMap((kind) => {
        const { due = 0, givenUp = 0, oldest = null } = rows.find((row) => row.kind === kind) ?? {};
        const overdueMs = oldest === null ? 0 : Math.max(0, nowMs - oldest.getTime());
        return [
          { gauge: 'ledger_deliveries_due', value: due, of: kind },
          { gauge: 'ledger_deliveries_oldest_due_seconds', value: overdueMs / 1_000, of: kind },
          { gauge: 'ledger_deliveries_given_up', value: givenUp, of: kind },
        ];
      });
    },
  };
}
