/** What waits for staff, and what the checks found. */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Reading } from '@ledger/observability/metrics.ts';
import type { Knex } from 'knex';
import { lastCheck } from '../../audit/check/schedule.ts';
import { countOpenExceptions } from '../../projections/exceptions/queries.ts';

export const readExceptions = (db: Knex) => async (): Promise<Reading[]> =>
  Object.entries(await countOpenExceptions(db, null)).map(([kind, count]) => [
    'ledger_exceptions_open',
    count,
    kind,
  ]);

export const readCheck = (db: Knex, runtime: Pick<Runtime, 'now'>) => async (): Promise<Reading[]> => {
  const readings = async (name: 'check' | 'verify'): Promise<Reading[]> => {
    const last = await lastCheck(db, name);
    if (!last) return [];
    return [
      [`ledger_${name}_age_seconds`, (runtime.now().getTime() - Date.parse(last.at)) / 1_000],
      [`ledger_${name}_violations`, last.violations.reduce((sum, { count }) => sum + count, 0)],
    ];
  };
  return [...(await readings('check')), ...(await readings('verify'))];
};
