/** GET /console/journal/ageing: what of the clearing accounts has not come back to zero, as of any moment. */
import { dayOf } from '../../../kernel/malaysian-time.ts';
import { signedSen } from '../../../kernel/money.ts';
import { ageing, ages } from '../../../projections/journal/ageing.ts';
import { journalGap } from '../../../projections/journal/queries.ts';
import { queryOf, readQuery } from '../frame/forms-and-lists.ts';
import type { Page } from '../frame/page.ts';
import { accountPath, periodOf } from './account.ts';
import { readAsOf } from './as-of.ts';

export const showAgeing: Page = async (ctx, { askReadModels, config, db, eventStore, runtime, show }) => {
  const { at = '' } = readQuery(ctx);
  const now = runtime.now();
  const asOf = readAsOf(at, now);
  const [accounts, gap] = await askReadModels(ctx, [
    ageing(db, asOf),
    journalGap(asOf, { eventStore, db, runtime }),
  ]);
  const period = periodOf(undefined, dayOf(asOf.toISOString()));
  await show(ctx, 'journal/ageing.njk', {
    title: 'Ageing',
    at,
    asOf: asOf.toISOString(),
    gap: gap?.message ?? null,
    ages,
    rows: accounts.map(({ account, byAge, openSen, undatedSen }) => ({
      account,
      name: config.merchants.get(account.replace(/^merchant:/, ''))?.name ?? '',
      url: `${accountPath}${queryOf({ account, ...period })}`,
      figures: [...byAge, undatedSen, openSen].map((sen) => ({
        sen,
        text: sen === 0n ? '' : signedSen(sen),
      })),
    })),
  });
};
