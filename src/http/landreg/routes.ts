/** The land registry's payment API: each route with the steps that a request to it passes through. */
import type Router from '@koa/router';
import { landregTransactionId } from '../../commands/transaction-id.ts';
import { createChannel } from '../pay/channel.ts';
import { createCheck } from '../pay/check-credentials.ts';
import { createRequery } from '../pay/requery.ts';
import { formBody, gatewayBody, jsonBody, validate } from '../server/body.ts';
import type { Context, RequestState } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';
import { createLandregAuth } from './authenticate.ts';
import { createRequestPayment } from './request.ts';
import { paymentRequestBody } from './request-body.ts';

export function addLandregRoutes(router: Router<RequestState>, dependencies: Dependencies): void {
  const { config, registry } = dependencies;
  const channel = createChannel('landreg', dependencies);
  const { loadHead, loadPayment } = channel;
  const { authenticateSystem, authenticatePayer } = createLandregAuth(dependencies);
  const check = createCheck(dependencies, () => ({ service: 'Land registry payments' }));
  const requestPayment = createRequestPayment(config, channel.startPayment);
  const idOf = (ctx: Context) => landregTransactionId(config.transactionIdKey, ctx.params.reference ?? '');
  const requery = createRequery(channel.common, idOf, registry.askByTransaksiId);

  router.get('/landreg/check', authenticateSystem, check);
  router.post(
    '/landreg/request',
    authenticateSystem,
    jsonBody,
    validate(paymentRequestBody(config)),
    requestPayment,
  );
  router.get('/landreg/pay/:id', authenticatePayer('pay'), loadPayment, channel.showPaymentPage);
  router.post('/landreg/pay/:id', authenticatePayer('pay'), formBody, loadHead, channel.chooseMethod);
  router.post('/landreg/response', gatewayBody, channel.recordResponse);
  router.get('/landreg/requery/:reference', authenticateSystem, requery);
  router.get('/landreg/receipt/:id', authenticatePayer('receipt'), loadPayment, channel.showReceipt);
  router.post('/landreg/receipt/:id', authenticatePayer('receipt'), formBody, loadHead, channel.sendReceipt);
  router.get('/landreg/download/:id', authenticatePayer('download'), loadPayment, channel.download);
}
