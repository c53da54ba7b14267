/** The steps that both payment channels have in common, made for one of them; its routes.ts puts them in order. */
import type { Channel } from '../../events/payment.ts';
import { createLinks } from '../../receipts/payment-links.ts';
import type { Dependencies } from '../server/dependencies.ts';
import { createChooseMethod } from './choose-method.ts';
import { createDownload } from './download.ts';
import { createResponse } from './gateway-response.ts';
import { createReceiptRedirect } from './lead-to-receipt.ts';
import { createLoadHead, createLoadPayment, createReadPayment } from './load-payment.ts';
import { createEmailTokens, createPageTokens } from './page-token.ts';
import { createShowPaymentPage } from './payment-page.ts';
import { createShowReceipt } from './receipt-page.ts';
import { createSendReceipt } from './send-receipt.ts';
import { createStartPayment } from './start-payment.ts';

export function createChannel(channel: Channel, dependencies: Dependencies) {
  const { config, runtime } = dependencies;
  const links = createLinks({ ...config, runtime })[channel];
  const readPayment = createReadPayment(channel, dependencies);
  const { leadToReceipt, toldOf } = createReceiptRedirect(dependencies, links);
  const tokens = createPageTokens({ ...config, runtime });
  const emailTokens = createEmailTokens({ ...config, runtime });
  const common = { ...dependencies, channel, emailTokens, leadToReceipt, links, readPayment, tokens };
  return {
    common,
    loadPayment: createLoadPayment(readPayment, toldOf),
    loadHead: createLoadHead(channel, dependencies),
    startPayment: createStartPayment(common),
    showPaymentPage: createShowPaymentPage(common),
    chooseMethod: createChooseMethod(common),
    recordResponse: createResponse(common),
    showReceipt: createShowReceipt(common),
    sendReceipt: createSendReceipt(common),
    download: createDownload(dependencies),
  };
}
