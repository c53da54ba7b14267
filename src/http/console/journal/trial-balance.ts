/** GET /console/journal: the trial balance, and the ageing of what is open, as of any moment. */
import { dayOf } from '../../../common/malaysian-time.ts';
import { absolute, signedSen } from '../../../common/money.ts';
import { ageing, ages } from '../../../projections/journal/ageing.ts';
import { journalGap, totalsOf, trialBalance } from '../../../projections/journal/queries.ts';
import { queryOf, readQuery } from '../frame/forms-and-lists.ts';
import type { Page } from '../frame/page.ts';
import { accountPath, balanceOf, periodOf } from './account.ts';
import { readAsOf } from './as-of.ts';

export const showTrialBalance: Page = async (ctx, dependencies) => {
  const { askReadModels, config, db, runtime, show } = dependencies;
  const { at = '' } = readQuery(ctx);
  const asOf = readAsOf(at, runtime.now());
  const [accounts, open, gap] = await askReadModels(ctx, [
    trialBalance(db, asOf),
    ageing(db, asOf),
    journalGap(asOf, dependencies),
  ]);
  const period = periodOf(undefined, dayOf(asOf.toISOString()));
  const urlOf = (account: string) => `${accountPath}${queryOf({ account, ...period })}`;
  const total = totalsOf(accounts);
  await show(ctx, 'journal/trial-balance.njk', {
    at,
    asOf: asOf.toISOString(),
    gap: gap?.message ?? null,
    rows: accounts.map((sums) => ({
      ...sums,
      ...balanceOf(sums.creditSen - sums.debitSen),
      url: urlOf(sums.account),
    })),
    ages,
    open: open.map(({ account, figures }) => ({
      account,
      name: config.merchants.get(account.replace(/^merchant:/, ''))?.name ?? '',
      url: urlOf(account),
      figures: figures.map((sen) => ({ sen, text: sen === 0n ? '' : signedSen(sen) })),
    })),
    total,
    differenceSen: absolute(total.debitSen - total.creditSen),
  });
};
