/** Who may use /landreg: the land registry by its key, and a payer's browser, which can send none, by a signed link. */
import type { Next } from 'koa';
import { createLinkCheck, type PaymentPageName } from '../../receipts/payment-links.ts';
import { bearerOf, digestOfConfigured, isOneOf } from '../server/bearer.ts';
import type { Context } from '../server/context.ts';
import { HttpProblem } from '../server/errors.ts';

/** Koa middleware for the land registry's own calls, and for each page of a payer. Both throw HttpProblem 401. */
export function createLandregAuth({
  config,
  clock,
}: {
  config: { landregAccessKey: string; transactionIdKey: string };
  clock: () => Date;
}) {
  const { landregAccessKey } = config;
  // No key at all is not an empty key, which whoever sends none would have.
  const digests = landregAccessKey === '' ? [] : [digestOfConfigured(landregAccessKey)];
  const checkLink = createLinkCheck(config.transactionIdKey);
  const hasKey = (ctx: Context) => isOneOf(digests, bearerOf(ctx));

  const system = (ctx: Context, next: Next): Promise<unknown> => {
    if (hasKey(ctx)) return next();
    throw new HttpProblem(401, 'Unauthorized - missing or invalid access key');
  };

  const payer =
    (name: PaymentPageName) =>
    (ctx: Context, next: Next): Promise<unknown> => {
      if (hasKey(ctx)) return next();
      const { sig } = ctx.query;
      switch (checkLink(typeof sig === 'string' ? sig : '', name, ctx.params.id ?? '', clock())) {
        case 'valid':
          return next();
        case 'expired':
          throw new HttpProblem(401, 'This link has expired', { kind: 'linkExpired' });
        case 'invalid':
          throw new HttpProblem(401, 'An access key or a signed link is needed');
      }
    };

  return { system, payer };
}
