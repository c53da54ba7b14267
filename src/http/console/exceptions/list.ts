/** GET /console/exceptions: everything that needs staff, of all kinds. */
import lists from '../../../../content/tables/lists.json' with { type: 'json' };
import { exceptionsOf, kindsFor, listedKinds } from '../../../projections/exceptions/queries.ts';
import { type Fields, readChoice, readQuery, readText } from '../frame/forms-and-lists.ts';
import { type List, readAmounts, readDays, readList, readMerchant } from '../frame/list.ts';
import type { Page, PageDependencies } from '../frame/page.ts';
import { textsOf } from '../texts.ts';

export function exceptionList(typed: Fields, dependencies: PageDependencies): List {
  const [days, range] = [readDays(typed), readAmounts(typed)];
  const fields = {
    // Most people look for open exceptions; `all` must be chosen.
    state: readChoice(typed.state, ['open', 'resolved', 'all']) ?? 'open',
    kind: readChoice(typed.kind, listedKinds),
    merchant: readMerchant(typed, dependencies),
    file: readText(typed.file),
    ...days.fields,
    ...range.fields,
  };
  const { file, kind, merchant: merchantCode } = fields;
  const state = fields.state === 'all' ? null : fields.state;
  const filter = { state, kind, merchantCode, file, recorded: days.span, amounts: range.amounts };
  const all: List['all'] = (db) => exceptionsOf(db, filter);
  return { listing: lists.exceptions, path: '/console/exceptions', fields, all };
}

export const showExceptions: Page = async (ctx, dependencies) =>
  dependencies.show(ctx, 'exceptions/exceptions.njk', {
    kinds: kindsFor(ctx.state.staff.merchants).map((value) => ({
      value,
      text: textsOf(ctx).exceptions.kinds[value].name,
    })),
    ...(await readList(ctx, dependencies, exceptionList(readQuery(ctx), dependencies))),
  });
