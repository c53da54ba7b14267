/** The generic payment API: each route with the steps that a request to it passes through. */
import type Router from '@koa/router';
import { transactionIdOf } from '../../commands/transaction-id.ts';
import { createLinks } from '../../receipts/payment-links.ts';
import { createCheck } from '../pay/check-credentials.ts';
import { createChooseMethod } from '../pay/choose-method.ts';
import type { PayDependencies } from '../pay/dependencies.ts';
import { createDownload } from '../pay/download.ts';
import { createResponse } from '../pay/gateway-response.ts';
import { createReceiptRedirect } from '../pay/lead-to-receipt.ts';
import { createLoadHead, createLoadPayment, createReadPayment } from '../pay/load-payment.ts';
import { createEmailTokens, createPageTokens } from '../pay/page-token.ts';
import { createShowPaymentPage } from '../pay/payment-page.ts';
import { createShowReceipt } from '../pay/receipt-page.ts';
import { createRequery } from '../pay/requery.ts';
import { createSendReceipt } from '../pay/send-receipt.ts';
import { createStartPayment } from '../pay/start-payment.ts';
import { checkBody, formBody, gatewayBody, jsonBody, validate } from '../server/body.ts';
import type { Context, RequestState } from '../server/context.ts';
import { createAuthenticateMerchant, type FromMerchant } from './authenticate.ts';
import { createGatewayResultForm, type ResultFormDependencies } from './gateway-result-form.ts';
import {
  createMakeRequest,
  createShowRequestForm,
  type RequestFormDependencies,
} from './payment-request-form.ts';
import { createRequestPayment } from './request.ts';
import { paymentRequestBody } from './request-body.ts';

export type GenericDependencies = PayDependencies &
  Pick<ResultFormDependencies, 'latestPayments'> &
  Pick<RequestFormDependencies, 'fetchOwn'> & { config: { sandbox: { enabled: boolean } } };

export function addGenericRoutes(router: Router<RequestState>, dependencies: GenericDependencies): void {
  const {
    config,
    execute,
    fetchOwn,
    latestPayments,
    personalData,
    quarantine,
    recordAnswer,
    registry,
    runtime,
  } = dependencies;
  const { transactionIdKey } = config;
  const links = createLinks({ ...config, runtime }).generic;
  const tokens = createPageTokens({ transactionIdKey, runtime });
  const emailTokens = createEmailTokens({ transactionIdKey, runtime });
  const readPayment = createReadPayment('generic', dependencies);
  const startPayment = createStartPayment({
    config,
    emailTokens,
    execute,
    links,
    personalData,
    runtime,
    tokens,
  });

  const authenticateMerchant = createAuthenticateMerchant(config.merchants);
  const { leadToReceipt, toldOf } = createReceiptRedirect({ config, links, runtime });
  const loadPayment = createLoadPayment(readPayment, toldOf);
  const loadHead = createLoadHead('generic', dependencies);
  const check = createCheck({
    about: (ctx: Context<FromMerchant>) => ({ merchant_code: ctx.state.merchant.code }),
    config,
    runtime,
  });
  const requestPayment = createRequestPayment({ transactionIdKey, startPayment, runtime });
  const showPaymentPage = createShowPaymentPage({ config, links, runtime, tokens });
  const chooseMethod = createChooseMethod({ config, execute, leadToReceipt, links, runtime, tokens });
  const sendReceipt = createSendReceipt({ emailTokens, execute, leadToReceipt, links, runtime });
  const recordResponse = createResponse({
    channel: 'generic',
    config,
    execute,
    leadToReceipt,
    quarantine,
    runtime,
  });
  const requery = createRequery({
    // The id depends on the merchant's code: no reference leads to another merchant's payment.
    idOf: (ctx: Context<FromMerchant>) =>
      transactionIdOf(transactionIdKey, 'generic', ctx.state.merchant.code, ctx.params.reference ?? ''),
    ask: ({ transactionId }) => registry.ask(transactionId),
    merchants: config.merchants,
    personalData,
    readPayment,
    recordAnswer,
    runtime,
  });

  router.get('/generic/check', checkBody, authenticateMerchant, check);
  router.post(
    '/generic/request',
    jsonBody,
    authenticateMerchant,
    validate(paymentRequestBody(config)),
    requestPayment,
  );
  router.get('/generic/pay/:id', loadPayment, showPaymentPage);
  router.post('/generic/pay/:id', formBody, loadHead, chooseMethod);
  router.post('/generic/response', gatewayBody, recordResponse);
  router.get('/generic/requery/:reference', checkBody, authenticateMerchant, requery);
  router.get('/generic/receipt/:id', loadPayment, createShowReceipt({ emailTokens, links, runtime }));
  router.post('/generic/receipt/:id', formBody, loadHead, sendReceipt);
  router.get('/generic/download/:id', loadPayment, createDownload(config));
  if (config.sandbox.enabled) {
    router.get(
      '/generic/debug',
      createGatewayResultForm({ config, latestPayments, links, readPayment, runtime }),
    );
    router.get('/generic/simulate', createShowRequestForm({ config, runtime }));
    router.post('/generic/simulate', formBody, createMakeRequest({ config, fetchOwn, runtime }));
  }
}
