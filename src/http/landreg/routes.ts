/** The land registry's payment API: each route with the steps that a request to it passes through. */
import type Router from '@koa/router';
import { landregTransactionId } from '../../commands/transaction-id.ts';
import { createChannel, stepsOf } from '../pay/channel.ts';
import { chooseMethod } from '../pay/choose-method.ts';
import { confirmCredentials } from '../pay/confirm-credentials.ts';
import { createDownload } from '../pay/download.ts';
import { recordResponse } from '../pay/gateway-response.ts';
import { loadPayment, loadPaymentWithHead } from '../pay/load-payment.ts';
import { showPaymentPage } from '../pay/payment-page.ts';
import { showReceipt } from '../pay/receipt-page.ts';
import { requery } from '../pay/requery.ts';
import { sendReceipt } from '../pay/send-receipt.ts';
import { formBody, gatewayBody, jsonBody, validate } from '../server/body.ts';
import type { Context, RequestState } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';
import { createLandregAuth } from './authenticate.ts';
import { paymentRequestBody, requestPayment } from './request.ts';

export function addLandregRoutes(router: Router<RequestState>, dependencies: Dependencies): void {
  const { config, registry } = dependencies;
  const channel = createChannel('landreg', dependencies);
  const step = stepsOf(channel);
  const { authenticateSystem: system, authenticatePayer: payer } = createLandregAuth(dependencies);
  const payment = step(loadPayment);
  const head = step(loadPaymentWithHead);

  router.get('/landreg/check', system, (ctx: Context) =>
    confirmCredentials(ctx, channel, { service: 'Land registry payments' }),
  );
  const request = validate(paymentRequestBody(config));
  router.post('/landreg/request', system, jsonBody, request, step(requestPayment));
  router.get('/landreg/pay/:id', payer('pay'), payment, step(showPaymentPage));
  router.post('/landreg/pay/:id', payer('pay'), formBody, head, step(chooseMethod));
  router.post('/landreg/response', gatewayBody, step(recordResponse));
  router.get('/landreg/requery/:reference', system, (ctx: Context) => {
    const id = landregTransactionId(config.transactionIdKey, ctx.params.reference ?? '');
    return requery(ctx, channel, id, registry.askByTransaksiId);
  });
  router.get('/landreg/receipt/:id', payer('receipt'), payment, step(showReceipt));
  router.post('/landreg/receipt/:id', payer('receipt'), formBody, head, step(sendReceipt));
  router.get('/landreg/download/:id', payer('download'), payment, createDownload(dependencies));
}
