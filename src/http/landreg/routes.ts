/** The land registry's payment API. What it shares with the generic one is in ../channel and ../payer. */
import type Router from '@koa/router';
import { landregTransactionId } from '../../commands/transaction-id.ts';
import type { Config } from '../../config/config.ts';
import { createChannelParts } from '../pay/channel-parts.ts';
import { createCheck } from '../pay/check.ts';
import { createChooseMethod, createShowPaymentPage } from '../pay/choose-method.ts';
import type { PayDependencies } from '../pay/dependencies.ts';
import { createDownload } from '../pay/download.ts';
import { createReceipt } from '../pay/receipt.ts';
import { createRequery } from '../pay/requery.ts';
import { createResponse } from '../pay/response.ts';
import { anyBody, formBody, jsonBody } from '../server/body.ts';
import type { Context, RequestState } from '../server/context.ts';
import { createLandregAuth } from './authenticate.ts';
import { createRequest } from './request.ts';

export type LandregDependencies = PayDependencies & { config: Pick<Config, 'landregAccessKey'> };

export function addLandregRoutes(router: Router<RequestState>, dependencies: LandregDependencies): void {
  const { config, registry } = dependencies;
  const parts = createChannelParts('landreg', dependencies);
  const { system, payer } = createLandregAuth({ config, clock: parts.clock });
  const identify = (ctx: Context) =>
    landregTransactionId(config.transactionIdKey, ctx.params.reference ?? '');

  router.get(
    '/landreg/check',
    system,
    createCheck({ ...parts, about: () => ({ service: 'Land registry payments' }) }),
  );
  router.post('/landreg/request', system, jsonBody, createRequest(parts));
  router.get('/landreg/pay/:id', payer('pay'), createShowPaymentPage(parts));
  router.post('/landreg/pay/:id', payer('pay'), formBody, createChooseMethod(parts));
  router.post('/landreg/response', anyBody, createResponse(parts));
  router.get(
    '/landreg/requery/:reference',
    system,
    createRequery({ ...parts, identify, ask: registry.askByTransaksiId }),
  );
  router.get('/landreg/receipt/:id', payer('receipt'), createReceipt(parts));
  router.get('/landreg/download/:id', payer('download'), createDownload(parts));
}
