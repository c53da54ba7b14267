/** The land registry's payment API: each route with the steps that a request to it passes through. */
import type Router from '@koa/router';
import { landregTransactionId } from '../../commands/transaction-id.ts';
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
import { formBody, gatewayBody, jsonBody, validate } from '../server/body.ts';
import type { RequestState } from '../server/context.ts';
import { createLandregAuth } from './authenticate.ts';
import { createRequestPayment } from './request.ts';
import { paymentRequestBody } from './request-body.ts';

export type LandregDependencies = PayDependencies & { config: { landregAccessKey: string } };

export function addLandregRoutes(router: Router<RequestState>, dependencies: LandregDependencies): void {
  const { config, execute, personalData, quarantine, recordAnswer, registry, runtime } = dependencies;
  const { transactionIdKey } = config;
  const links = createLinks({ ...config, runtime }).landreg;
  const tokens = createPageTokens({ transactionIdKey, runtime });
  const emailTokens = createEmailTokens({ transactionIdKey, runtime });
  const readPayment = createReadPayment('landreg', dependencies);
  const startPayment = createStartPayment({
    config,
    emailTokens,
    execute,
    links,
    personalData,
    runtime,
    tokens,
  });

  const { authenticateSystem, authenticatePayer } = createLandregAuth({ ...config, runtime });
  const { leadToReceipt, toldOf } = createReceiptRedirect({ config, links, runtime });
  const loadPayment = createLoadPayment(readPayment, toldOf);
  const loadHead = createLoadHead('landreg', dependencies);
  const check = createCheck({ about: () => ({ service: 'Land registry payments' }), config, runtime });
  const requestPayment = createRequestPayment({ config, startPayment, runtime });
  const showPaymentPage = createShowPaymentPage({ config, links, runtime, tokens });
  const chooseMethod = createChooseMethod({ config, execute, leadToReceipt, links, runtime, tokens });
  const sendReceipt = createSendReceipt({ emailTokens, execute, leadToReceipt, links, runtime });
  const recordResponse = createResponse({
    channel: 'landreg',
    config,
    execute,
    leadToReceipt,
    quarantine,
    runtime,
  });
  const requery = createRequery({
    idOf: (ctx) => landregTransactionId(transactionIdKey, ctx.params.reference ?? ''),
    ask: registry.askByTransaksiId,
    merchants: config.merchants,
    personalData,
    readPayment,
    recordAnswer,
    runtime,
  });

  router.get('/landreg/check', authenticateSystem, check);
  router.post(
    '/landreg/request',
    authenticateSystem,
    jsonBody,
    validate(paymentRequestBody(config)),
    requestPayment,
  );
  router.get('/landreg/pay/:id', authenticatePayer('pay'), loadPayment, showPaymentPage);
  router.post('/landreg/pay/:id', authenticatePayer('pay'), formBody, loadHead, chooseMethod);
  router.post('/landreg/response', gatewayBody, recordResponse);
  router.get('/landreg/requery/:reference', authenticateSystem, requery);
  router.get(
    '/landreg/receipt/:id',
    authenticatePayer('receipt'),
    loadPayment,
    createShowReceipt({ emailTokens, links, runtime }),
  );
  router.post('/landreg/receipt/:id', authenticatePayer('receipt'), formBody, loadHead, sendReceipt);
  router.get('/landreg/download/:id', authenticatePayer('download'), loadPayment, createDownload(config));
}
