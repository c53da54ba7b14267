/** The merchant that a request comes from: code and API key, from headers or body, as the interface document says. */
import type { Next } from 'koa';
import type { Credentials } from '../../commands/credentials.ts';
import { type Merchant, merchantCodeOf } from '../../config/merchants.ts';
import { bearerOf } from '../server/bearer.ts';
import { bodyText } from '../server/body.ts';
import { type Context, HttpProblem } from '../server/context.ts';

export type FromMerchant = { merchant: Merchant; apiKey: string };

/** Koa middleware that finds the merchant. Throws HttpProblem 401 with the documented messages, 429 and EventStoreUnavailable. */
export function createAuthenticateMerchant(
  merchants: ReadonlyMap<string, Merchant>,
  credentials: Pick<Credentials, 'checkKey'>,
) {
  return async (ctx: Context<FromMerchant>, next: Next): Promise<unknown> => {
    // The agency's id is understood in place of its code, as in version 1.0.0 of the interface.
    const inHeader = merchantCodeOf(merchants, ctx.get('X-Merchant-Code').trim());
    const code = agreed(inHeader, merchantCodeOf(merchants, bodyText(ctx, 'merchant_code')));
    const key = agreed(bearerOf(ctx), bodyText(ctx, 'api_key'));
    if (code === '' || key === '') throw new HttpProblem(401, 'Missing merchant_code or API key');
    const merchant = merchants.get(code ?? '');
    const look = () => (merchant && key !== null ? credentials.checkKey(merchant, key) : null);
    const found = await ctx.state.guess(`key of ${merchant?.code ?? ''}`, look);
    if (code !== null && !merchant) throw new HttpProblem(401, 'Merchant code not registered');
    if (!merchant || key === null || found !== 'valid')
      throw new HttpProblem(401, 'Unauthorized - invalid API key for merchant');
    ctx.state.merchant = merchant;
    ctx.state.apiKey = key;
    ctx.state.logFields = { merchant: merchant.code };
    await ctx.state.spend('calls', `merchant ${merchant.code}`);
    return next();
  };
}

/** The value in header and body together: `''` if neither has one, null if they differ. */
function agreed(header: string, body: string): string | null {
  return header !== '' && body !== '' && header !== body ? null : header || body;
}
