/** What waits for staff, and what the hourly check found. */
import type { Knex } from 'knex';
import { lastCheck } from '../../audit/check/hourly.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { countOpenExceptions } from '../../projections/exceptions/queries.ts';
import type { GaugeSource } from '../metrics.ts';

export function openExceptions(db: Knex): GaugeSource {
  return {
    name: 'exceptions',
    label: 'kind',
    gauges: { ledger_exceptions_open: 'Exceptions that staff have to resolve' },
    async read() {
      const counts = Object.entries(await countOpenExceptions(db));
      return counts.map(([of, value]) => ({ gauge: 'ledger_exceptions_open', value, of }));
    },
  };
}

export function hourlyCheck(db: Knex, runtime: Pick<Runtime, 'now'>): GaugeSource {
  return {
    name: 'hourly check',
    gauges: {
      ledger_check_age_seconds: 'The age of the last hourly check; missing before the first',
      ledger_check_violations: 'What the last hourly check found that does not agree',
    },
    async read() {
      const last = await lastCheck(db);
      if (!last) return [];
      const found = last.violations.reduce((sum, { count }) => sum + count, 0);
      const ageMs = runtime.now().getTime() - Date.parse(last.at);
      return [
        { gauge: 'ledger_check_age_seconds', value: ageMs / 1_000 },
        { gauge: 'ledger_check_violations', value: found },
      ];
    },
  };
}
