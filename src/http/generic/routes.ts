/** The generic payment API: each route with the steps that a request to it passes through. */
import type Router from '@koa/router';
import { transactionIdOf } from '../../commands/transaction-id.ts';
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
import { checkBody, formBody, gatewayBody, jsonBody, validate } from '../server/body.ts';
import type { Context, RequestState } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';
import { createAuthenticateMerchant, type FromMerchant } from './authenticate.ts';
import { endOverlap, Rotation, readKind, rotate } from './credentials.ts';
import { showGatewayResultForm } from './gateway-result-form.ts';
import { makeRequest, showRequestForm } from './payment-request-form.ts';
import { cancel, sendAgain } from './payments/actions.ts';
import { listPayments } from './payments/list.ts';
import { loadOwn } from './payments/own-payment.ts';
import { showOwnPayment } from './payments/show.ts';
import { sendTestCallback, testCallbackBody } from './payments/test-callback.ts';
import { paymentRequestBody, requestPayment } from './request.ts';

export function addGenericRoutes(router: Router<RequestState>, dependencies: Dependencies): void {
  const { config, credentials, registry } = dependencies;
  const channel = createChannel('generic', dependencies);
  const step = stepsOf(channel);
  const merchant = createAuthenticateMerchant(config.merchants, credentials);
  const own = step(loadOwn);
  const payment = step(loadPayment);
  const head = step(loadPaymentWithHead);

  // For merchants. The steps that take a validated body are named first, so that its type is checked against theirs.
  router.get('/generic/check', checkBody, merchant, (ctx: Context<FromMerchant>) =>
    confirmCredentials(ctx, channel, { merchant_code: ctx.state.merchant.code }),
  );
  const askPayment = step(requestPayment);
  router.post('/generic/request', jsonBody, merchant, validate(paymentRequestBody(config)), askPayment);
  // The id depends on the merchant's code: no reference leads to another merchant's payment.
  router.get('/generic/requery/:reference', checkBody, merchant, (ctx: Context<FromMerchant>) => {
    const { code } = ctx.state.merchant;
    const id = transactionIdOf(config.transactionIdKey, 'generic', code, ctx.params.reference ?? '');
    return requery(ctx, channel, id, ({ transactionId }) => registry.ask(transactionId));
  });
  router.get('/generic/payments', merchant, step(listPayments));
  router.get('/generic/payments/:id', merchant, own, step(showOwnPayment));
  router.post('/generic/payments/:id/deliveries/:delivery/send-again', merchant, own, step(sendAgain));
  router.post('/generic/payments/:id/cancel', merchant, own, step(cancel));
  const sendTest = step(sendTestCallback);
  router.post('/generic/test-callback', jsonBody, merchant, validate(testCallbackBody(config)), sendTest);
  const rotation = validate(Rotation);
  const rotateCredential = step(rotate);
  router.post('/generic/credentials/:kind/rotate', jsonBody, merchant, readKind, rotation, rotateCredential);
  router.post('/generic/credentials/:kind/end-overlap', merchant, readKind, step(endOverlap));

  // For payers and the gateway.
  router.get('/generic/pay/:id', payment, step(showPaymentPage));
  router.post('/generic/pay/:id', formBody, head, step(chooseMethod));
  router.post('/generic/response', gatewayBody, step(recordResponse));
  router.get('/generic/receipt/:id', payment, step(showReceipt));
  router.post('/generic/receipt/:id', formBody, head, step(sendReceipt));
  router.get('/generic/download/:id', payment, createDownload(dependencies));
  if (config.sandbox.enabled) {
    router.get('/generic/debug', step(showGatewayResultForm));
    router.get('/generic/simulate', step(showRequestForm));
    router.post('/generic/simulate', formBody, step(makeRequest));
  }
}
