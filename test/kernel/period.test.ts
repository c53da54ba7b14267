import { earlierBy, type Period } from '@ledger/kernel/period.ts';
import test from 'ava';

const cases: readonly [now: string, Period, then: string][] = [
  ['2026-11-20T01:02:03.004Z', { count: 7, unit: 'years' }, '2019-11-20T01:02:03.004Z'],
  ['2026-11-20T01:02:03.004Z', { count: 18, unit: 'months' }, '2025-05-20T01:02:03.004Z'],
  ['2026-03-01T00:00:00.000Z', { count: 90, unit: 'days' }, '2025-12-01T00:00:00.000Z'],
  ['2026-03-31T00:00:00.000Z', { count: 1, unit: 'months' }, '2026-02-28T00:00:00.000Z'],
  ['2028-02-29T00:00:00.000Z', { count: 1, unit: 'years' }, '2027-02-28T00:00:00.000Z'],
];

for (const [now, period, then] of cases)
  test(`${period.count} ${period.unit} before ${now}`, (t) => {
    t.is(earlierBy(new Date(now), period).toISOString(), then);
  });
