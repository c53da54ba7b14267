/** What the registry is to be asked about, and how long payers' attempts have been open. */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Reading } from '@ledger/observability/metrics.ts';
import { emptyIfUndefined } from '@ledger/postgres/error-codes.ts';
import type { Knex } from 'knex';
import { requeryList } from '../../to-do/requeries.ts';

// Read from the text, because the JSON may hold a character that Postgres cannot read (U+0000).
const firstAttempt = `substring(known::text from '"attempts":\\[\\{[^}]*"at":"([^"]+)"')::timestamptz`;
const isOpen = `due_at is not null and known::text ~ '"status":"(requested|pending)"'`;

export const readRequeries = (db: Knex, runtime: Pick<Runtime, 'now'>) => async (): Promise<Reading[]> => {
  type Row = { due: number; overdue: number; open: number };
  const query = db.raw<{ rows: Row[] }>(
    `select count(*) filter (where wake_at <= :now) as due,
       extract(epoch from :now - min(wake_at))::float8 as overdue,
       extract(epoch from :now - min(${firstAttempt}) filter (where ${isOpen}))::float8 as open
     from ${requeryList.name}.requeries where wake_at is not null`,
    { now: runtime.now() },
  );
  const [row] = await emptyIfUndefined(query.timeout(5_000));
  return [
    ['ledger_requeries_due', row?.due ?? 0],
    ['ledger_requeries_oldest_due_seconds', Math.max(0, row?.overdue ?? 0)],
    ['ledger_open_attempt_oldest_seconds', Math.max(0, row?.open ?? 0)],
  ];
};
