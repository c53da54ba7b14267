/** Who a merchant is: code and API key, from headers or body, as the interface document has it. */
import type { Merchant } from '../../config/merchants.ts';
import { bearerOf, digestOfConfigured, isOneOf } from '../server/bearer.ts';
import type { Context } from '../server/context.ts';
import { HttpProblem } from '../server/errors.ts';

/** Answers the merchant that a request proves to come from. Throws HttpProblem 401 with the documented messages. */
export type Authenticate = (ctx: Context) => Merchant;

export function createAuthenticate(merchants: ReadonlyMap<string, Merchant>): Authenticate {
  const digests = new Map(
    Array.from(merchants.values(), ({ code, apiKeys }) => [code, apiKeys.map(digestOfConfigured)]),
  );
  return (ctx) => {
    const code = agreed(ctx.get('X-Merchant-Code').trim(), bodyText(ctx, 'merchant_code'));
    const key = agreed(bearerOf(ctx), bodyText(ctx, 'api_key'));
    if (code === '' || key === '') throw unauthorized('Missing merchant_code or API key');
    const merchant = merchants.get(code ?? '');
    if (code !== null && !merchant) throw unauthorized('Merchant code not registered');
    if (!merchant || key === null || !isOneOf(digests.get(merchant.code) ?? [], key))
      throw unauthorized('Unauthorized - invalid API key for merchant');
    ctx.state.logFields = { merchant: merchant.code };
    return merchant;
  };
}

function unauthorized(message: string): HttpProblem {
  return new HttpProblem(401, message);
}

/** What header and body say together: `''` when neither says anything, null when they disagree. */
function agreed(header: string, body: string): string | null {
  return header !== '' && body !== '' && header !== body ? null : header || body;
}

function bodyText(ctx: Context, field: string): string {
  const body: unknown = ctx.request.body;
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, field) : '';
  return typeof value === 'string' ? value : '';
}
