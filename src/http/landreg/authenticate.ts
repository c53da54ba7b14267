/** Who may use /landreg: the land registry by its key, and a payer's browser, which cannot send one, by a signed link. */
import { endOf } from '@ledger/kernel/expiring-signature.ts';
import type { Next } from 'koa';
import { createLinkCheck, type PaymentPageName } from '../../receipts/payment-links.ts';
import { hasBearer } from '../server/bearer.ts';
import { type Context, HttpProblem, queryText } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';

/** Koa middleware for the land registry's own calls, and for each page of a payer. Both throw HttpProblem 401 and 429. */
export function createLandregAuth({ config, runtime }: Dependencies) {
  const checkLink = createLinkCheck(config.linkKeys);
  const hasKey = (ctx: Context) => hasBearer(ctx, 'key of the land registry', config.landregAccessKeys);

  const authenticateSystem = async (ctx: Context, next: Next): Promise<unknown> => {
    if (!(await hasKey(ctx))) throw new HttpProblem(401, 'Unauthorized - missing or invalid access key');
    await ctx.state.spend('calls', 'landreg');
    return next();
  };

  const authenticatePayer =
    (page: PaymentPageName) =>
    async (ctx: Context, next: Next): Promise<unknown> => {
      if (await hasKey(ctx)) return next();
      const signature = queryText(ctx, 'sig');
      const link = checkLink(signature, page, ctx.params.id ?? '', runtime.now());
      if (link === 'expired') throw new HttpProblem(401, 'This link has expired', { kind: 'linkExpired' });
      if (link === 'invalid') throw new HttpProblem(401, 'An access key or a signed link is needed');
      ctx.state.linkEndsAtMs = endOf(signature);
      return next();
    };

  return { authenticateSystem, authenticatePayer };
}
