/** The generic payment API. What it shares with the land registry's is in ../channel and ../payer. */
import type Router from '@koa/router';
import { transactionIdOf } from '../../commands/transaction-id.ts';
import { createAuthenticate } from '../auth/merchant.ts';
import { anyBody, checkBody, formBody, jsonBody } from '../body.ts';
import { createCheck } from '../channel/check.ts';
import { type ChannelDependencies, createChannelParts } from '../channel/parts.ts';
import { createRequery } from '../channel/requery.ts';
import { createResponse } from '../channel/response.ts';
import type { Context, RequestState } from '../context.ts';
import { createDownload } from '../payer/download.ts';
import { createChooseMethod, createShowPaymentPage } from '../payer/pay.ts';
import { createReceipt } from '../payer/receipt.ts';
import { createDebug } from './debug.ts';
import { createRequest } from './request.ts';
import { createShowSimulate, createSimulate } from './simulate.ts';

export function addGenericRoutes(router: Router<RequestState>, dependencies: ChannelDependencies): void {
  const { config, registry } = dependencies;
  const authenticate = createAuthenticate(config.merchants);
  const parts = { ...createChannelParts('generic', dependencies), authenticate };
  // The id is made of the merchant's own code: another merchant's payment has no reference that leads to it.
  const identify = (ctx: Context) =>
    transactionIdOf(config.transactionIdKey, 'generic', authenticate(ctx).code, ctx.params.reference ?? '');

  router.get(
    '/generic/check',
    checkBody,
    createCheck({ ...parts, about: (ctx) => ({ merchant_code: authenticate(ctx).code }) }),
  );
  router.post('/generic/request', jsonBody, createRequest(parts));
  router.get('/generic/pay/:id', createShowPaymentPage(parts));
  router.post('/generic/pay/:id', formBody, createChooseMethod(parts));
  router.post('/generic/response', anyBody, createResponse(parts));
  router.get(
    '/generic/requery/:reference',
    checkBody,
    createRequery({ ...parts, identify, ask: ({ transactionId }) => registry.ask(transactionId) }),
  );
  router.get('/generic/receipt/:id', createReceipt(parts));
  router.get('/generic/download/:id', createDownload(parts));
  if (config.sandbox.enabled) {
    router.get('/generic/debug', createDebug(parts));
    router.get('/generic/simulate', createShowSimulate(parts));
    router.post('/generic/simulate', formBody, createSimulate(parts));
  }
}
