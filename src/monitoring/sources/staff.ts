/** What waits for staff, and what the hourly check found. */
import type { Reading } from '@ledger/observability/metrics.ts';
import type { Knex } from 'knex';
import { lastCheck } from '../../audit/check/hourly.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { countOpenExceptions } from '../../projections/exceptions/queries.ts';

export const readExceptions = (db: Knex) => async (): Promise<Reading[]> =>
  Object.entries(await countOpenExceptions(db)).map(([kind, count]) => [
    'ledger_exceptions_open',
    count,
    kind,
  ]);

export const readCheck = (db: Knex, runtime: Pick<Runtime, 'now'>) => async (): Promise<Reading[]> => {
  const last = await lastCheck(db);
  if (!last) return [];
  return [
    ['ledger_check_age_seconds', (runtime.now().getTime() - Date.parse(last.at)) / 1_000],
    ['ledger_check_violations', last.violations.reduce((sum, { count }) => sum + count, 0)],
  ];
};
