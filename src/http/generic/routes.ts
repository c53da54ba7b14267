/** The generic payment API. What it shares with the land registry's is in ../channel and ../payer. */
import type Router from '@koa/router';
import { transactionIdOf } from '../../commands/transaction-id.ts';
import type { LatestPayment } from '../../projections/payments/queries.ts';
import { createChannelParts } from '../pay/channel-parts.ts';
import { createCheck } from '../pay/check.ts';
import { createChooseMethod, createShowPaymentPage } from '../pay/choose-method.ts';
import type { PayDependencies } from '../pay/dependencies.ts';
import { createDownload } from '../pay/download.ts';
import { createReceipt } from '../pay/receipt.ts';
import { createRequery } from '../pay/requery.ts';
import { createResponse } from '../pay/response.ts';
import { anyBody, checkBody, formBody, jsonBody } from '../server/body.ts';
import type { Context, RequestState } from '../server/context.ts';
import { createAuthenticate } from './authenticate.ts';
import { createDebug } from './debug.ts';
import { createRequest } from './request.ts';
import { createShowSimulate, createSimulate } from './simulate.ts';

export type GenericDependencies = PayDependencies & {
  config: { sandbox: { enabled: boolean } };
  /** The latest generic payments in the read model. Rejects when Postgres is down. */
  latestPayments(): Promise<readonly LatestPayment[]>;
};

export function addGenericRoutes(router: Router<RequestState>, dependencies: GenericDependencies): void {
  const { config, registry } = dependencies;
  const authenticate = createAuthenticate(config.merchants);
  const { latestPayments } = dependencies;
  const parts = { ...createChannelParts('generic', dependencies), authenticate, latestPayments };
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
