/** The generic payment API: each route with the steps that a request to it passes through. */
import type Router from '@koa/router';
import { transactionIdOf } from '../../commands/transaction-id.ts';
import { createChannel } from '../pay/channel.ts';
import { createCheck } from '../pay/check-credentials.ts';
import { createRequery } from '../pay/requery.ts';
import { checkBody, formBody, gatewayBody, jsonBody, validate } from '../server/body.ts';
import type { Context, RequestState } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';
import { createAuthenticateMerchant, type FromMerchant } from './authenticate.ts';
import { createCredentialActions, Rotation, readKind } from './credentials.ts';
import { createGatewayResultForm } from './gateway-result-form.ts';
import { createMakeRequest, createShowRequestForm } from './payment-request-form.ts';
import { cancel, createAct, sendAgain } from './payments/actions.ts';
import { createListPayments } from './payments/list.ts';
import { createLoadOwn } from './payments/own-payment.ts';
import { createShowOwnPayment } from './payments/show.ts';
import { createSendTestCallback, testCallbackBody } from './payments/test-callback.ts';
import { createRequestPayment } from './request.ts';
import { paymentRequestBody } from './request-body.ts';

export function addGenericRoutes(router: Router<RequestState>, dependencies: Dependencies): void {
  const { config, registry } = dependencies;
  const { transactionIdKey } = config;
  const channel = createChannel('generic', dependencies);
  const { loadHead, loadPayment } = channel;
  const authenticateMerchant = createAuthenticateMerchant(config.merchants, dependencies.credentials);
  const credentials = createCredentialActions(dependencies);
  const check = createCheck(dependencies, (ctx: Context<FromMerchant>) => ({
    merchant_code: ctx.state.merchant.code,
  }));
  const loadOwn = createLoadOwn(dependencies);
  const act = createAct(dependencies);
  const requestPayment = createRequestPayment(transactionIdKey, channel.startPayment);
  // The id depends on the merchant's code: no reference leads to another merchant's payment.
  const idOf = (ctx: Context<FromMerchant>) =>
    transactionIdOf(transactionIdKey, 'generic', ctx.state.merchant.code, ctx.params.reference ?? '');
  const requery = createRequery(channel.common, idOf, ({ transactionId }) => registry.ask(transactionId));

  router.get('/generic/check', checkBody, authenticateMerchant, check);
  router.post(
    '/generic/request',
    jsonBody,
    authenticateMerchant,
    validate(paymentRequestBody(config)),
    requestPayment,
  );
  router.get('/generic/pay/:id', loadPayment, channel.showPaymentPage);
  router.post('/generic/pay/:id', formBody, loadHead, channel.chooseMethod);
  router.post('/generic/response', gatewayBody, channel.recordResponse);
  router.get('/generic/requery/:reference', checkBody, authenticateMerchant, requery);
  router.get('/generic/payments', authenticateMerchant, createListPayments(channel.common));
  router.get('/generic/payments/:id', authenticateMerchant, loadOwn, createShowOwnPayment(dependencies));
  router.post(
    '/generic/payments/:id/deliveries/:delivery/send-again',
    authenticateMerchant,
    loadOwn,
    act(sendAgain),
  );
  router.post('/generic/payments/:id/cancel', authenticateMerchant, loadOwn, act(cancel));
  router.post(
    '/generic/test-callback',
    jsonBody,
    authenticateMerchant,
    validate(testCallbackBody(config)),
    createSendTestCallback(dependencies),
  );
  router.post(
    '/generic/credentials/:kind/rotate',
    jsonBody,
    authenticateMerchant,
    readKind,
    validate(Rotation),
    credentials.rotate,
  );
  router.post(
    '/generic/credentials/:kind/end-overlap',
    authenticateMerchant,
    readKind,
    credentials.endOverlap,
  );
  router.get('/generic/receipt/:id', loadPayment, channel.showReceipt);
  router.post('/generic/receipt/:id', formBody, loadHead, channel.sendReceipt);
  router.get('/generic/download/:id', loadPayment, channel.download);
  if (config.sandbox.enabled) {
    router.get('/generic/debug', createGatewayResultForm(channel.common));
    router.get('/generic/simulate', createShowRequestForm(dependencies));
    router.post('/generic/simulate', formBody, createMakeRequest(dependencies));
  }
}
