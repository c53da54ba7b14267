/** /console/exceptions/resolve: resolves a whole list of one kind, after staff have seen how many it holds. */
import { readPage, totalsOf } from '@ledger/postgres/listing.ts';
import { Refused } from '../../../commands/decider.ts';
import { executeEach } from '../../../commands/execute.ts';
import { HttpProblem } from '../../server/context.ts';
import { maxAtOnce } from '../deliveries/send-list.ts';
import { keysOf, readQuery } from '../frame/forms-and-lists.ts';
import { staffCause } from '../frame/page.ts';
import { findDiscrepancy } from './discrepancy.ts';
import { exceptionForm, type FoundException, type ResolutionName } from './exception-page.ts';
import { exceptionList } from './list.ts';
import { findUnmatched } from './unmatched-result.ts';

/** The kinds that have no money in the books. */
const finds = { unmatched: findUnmatched, difference: findDiscrepancy };

/** The list that the query filters, in place of one exception. */
export const resolveList = exceptionForm('resolve-list', async (ctx, dependencies) => {
  const { askReadModels, db, show } = dependencies;
  const { all, fields, listing } = exceptionList(readQuery(ctx), dependencies);
  const kind = keysOf(finds).find((each) => each === fields.kind && fields.state === 'open');
  if (!kind) throw new HttpProblem(400, 'Choose open unmatched results or open discrepancies');
  const [totals] = await askReadModels(ctx, [totalsOf(db, all(db), listing)]);
  if (!totals) throw new HttpProblem(503, 'Too many to count quickly: choose fewer days.');
  const { count } = totals;
  const model = { url: ctx.url, filter: fields, count, atOnce: Math.min(count, maxAtOnce) };
  return {
    kind,
    model,
    choices: kind === 'unmatched' ? ['settled', 'explained'] : ['explained'],
    resolved: null,
    resolvedBy: '',
    async resolve(given, _, form) {
      // The oldest: what has come since they were counted is newer.
      const page = { limit: model.atOnce, after: null, sort: 'recorded' };
      const [chosen] = await askReadModels(ctx, [readPage<{ id: string }>(db, all(db), listing, page)]);
      if (form.count !== String(count) || chosen.length < model.atOnce)
        throw new Refused('list_changed', 'The list has changed. Check the new number.');
      const outcome = await executeEach(chosen, async ({ id }) => {
        const found: FoundException<ResolutionName> = await finds[kind](
          id.slice(kind.length + 1),
          dependencies,
        );
        return await found.resolve(given, staffCause(ctx), {});
      });
      await show(ctx, 'exceptions/resolved-list.njk', { ...model, ...outcome, chosen: chosen.length });
      return { events: [], isAnswered: true };
    },
  };
});
