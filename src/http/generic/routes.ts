/** The generic payment API: one file per endpoint beside this one. */
import type Router from '@koa/router';
import { createQuarantine } from '../../commands/unmatched.ts';
import { createAuthenticate } from '../auth/merchant.ts';
import { createPageTokens } from '../auth/page-token.ts';
import { anyBody, checkBody, formBody, jsonBody } from '../body.ts';
import type { RequestState } from '../context.ts';
import type { Dependencies } from '../dependencies.ts';
import { createLinks } from '../payer/links.ts';
import { createPayerPages } from '../payer/pages.ts';
import { createCheck } from './check.ts';
import { createDebug } from './debug.ts';
import { createDownload } from './download.ts';
import { createChooseMethod, createShowPaymentPage } from './pay.ts';
import { createReadPayment } from './read-payment.ts';
import { createReceipt } from './receipt.ts';
import { createRequery } from './requery.ts';
import { createRequest } from './request.ts';
import { createResponse } from './response.ts';
import { createShowSimulate, createSimulate } from './simulate.ts';

export function addGenericRoutes(router: Router<RequestState>, dependencies: Dependencies): void {
  const { config, clock = () => new Date() } = dependencies;
  const authenticate = createAuthenticate(config.merchants);
  const links = createLinks(config.baseUrl);
  const tokens = createPageTokens(config.transactionIdKey);
  const readPayment = createReadPayment('generic', dependencies);
  const pages = createPayerPages({ config, links, tokens, clock });
  const quarantine = createQuarantine(dependencies.eventStore);
  const parts = { ...dependencies, authenticate, clock, links, pages, quarantine, readPayment, tokens };

  router.get('/generic/check', checkBody, createCheck(parts));
  router.post('/generic/request', jsonBody, createRequest(parts));
  router.get('/generic/pay/:id', createShowPaymentPage(parts));
  router.post('/generic/pay/:id', formBody, createChooseMethod(parts));
  router.post('/generic/response', anyBody, createResponse(parts));
  router.get('/generic/requery/:reference', checkBody, createRequery(parts));
  router.get('/generic/receipt/:id', createReceipt(parts));
  router.get('/generic/download/:id', createDownload(parts));
  if (config.sandbox.enabled) {
    router.get('/generic/debug', createDebug(parts));
    router.get('/generic/simulate', createShowSimulate(parts));
    router.post('/generic/simulate', formBody, createSimulate(parts));
  }
}
