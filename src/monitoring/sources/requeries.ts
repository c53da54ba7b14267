/** What the registry is to be asked about, and how long payers' attempts have been open. */
import type { Knex } from 'knex';
import type { Runtime } from '../../kernel/runtime.ts';
import { emptyIfUndefined } from '../../postgres/error-codes.ts';
import { requeryList } from '../../to-do/requeries.ts';
import type { GaugeSource } from '../metrics.ts';

const table = `${requeryList.name}.requeries`;
// Read from the text, because the JSON may hold a character that Postgres cannot read (U+0000).
const firstAttempt = `substring(known::text from '"attempts":\\[\\{[^}]*"at":"([^"]+)"')::timestamptz`;

export function requeryBacklog(db: Knex, runtime: Pick<Runtime, 'now'>): GaugeSource {
  return {
    name: 'requeries',
    gauges: {
      ledger_requeries_due: 'Payments that the registry is to be asked about now',
      ledger_requeries_oldest_due_seconds: 'For how long a question to the registry has been due',
      ledger_open_attempt_oldest_seconds:
        'The age of the oldest attempt of a payment that has no final result',
    },
    async read() {
      type Row = { due: number; oldestDue: Date | null; oldestAttempt: Date | null };
      const now = runtime.now();
      const query = db.raw<{ rows: Row[] }>(
        `select count(*) filter (where wake_at <= :now) as due, min(wake_at) as "oldestDue",
           min(${firstAttempt}) filter (where due_at is not null and known::text ~ '"status":"(requested|pending)"')
             as "oldestAttempt"
         from ${table} where wake_at is not null`,
        { now },
      );
      const [row] = await emptyIfUndefined(query.timeout(5_000));
      const age = (since: Date | null = null) =>
        since ? Math.max(0, now.getTime() - since.getTime()) / 1_000 : 0;
      return [
        { gauge: 'ledger_requeries_due', value: row?.due ?? 0 },
        { gauge: 'ledger_requeries_oldest_due_seconds', value: age(row?.oldestDue) },
        { gauge: 'ledger_open_attempt_oldest_seconds', value: age(row?.oldestAttempt) },
      ];
    },
  };
}
