/** GET /console/journal: the trial balance as of any moment. */
import { dayOf } from '../../../kernel/malaysian-time.ts';
import { absolute } from '../../../kernel/money.ts';
import { journalGap, trialBalance } from '../../../projections/journal/queries.ts';
import { queryOf, readQuery } from '../frame/forms-and-lists.ts';
import type { Page } from '../frame/page.ts';
import { accountPath, balanceOf, periodOf } from './account.ts';
import { readAsOf } from './as-of.ts';

export const showTrialBalance: Page = async (ctx, { askReadModels, db, eventStore, runtime, show }) => {
  const { at = '' } = readQuery(ctx);
  const now = runtime.now();
  const asOf = readAsOf(at, now);
  const [accounts, gap] = await askReadModels(ctx, [
    trialBalance(db, asOf),
    journalGap(asOf, { eventStore, db, runtime }),
  ]);
  const period = periodOf(undefined, dayOf(asOf.toISOString()));
  const total = {
    debitSen: accounts.reduce((sum, { debitSen }) => sum + debitSen, 0n),
    creditSen: accounts.reduce((sum, { creditSen }) => sum + creditSen, 0n),
  };
  await show(ctx, 'journal/trial-balance.njk', {
    title: 'Journal',
    at,
    asOf: asOf.toISOString(),
    gap: gap?.message ?? null,
    rows: accounts.map((sums) => ({
      ...sums,
      ...balanceOf(sums.creditSen - sums.debitSen),
      url: `${accountPath}${queryOf({ account: sums.account, ...period })}`,
    })),
    total,
    differenceSen: absolute(total.debitSen - total.creditSen),
  });
};
