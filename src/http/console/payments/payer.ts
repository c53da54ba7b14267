/** GET /console/payments/{id}/payer: who pays, and for what. */
import { type OpenPayment, openPayment } from '../../../events/open-payment.ts';
import { withheldText } from '../../../receipts/texts.ts';
import { HttpProblem } from '../../server/context.ts';
import { loadHistory } from '../../server/load-history.ts';
import type { Page } from '../frame/page.ts';
import { paymentsPath } from './search.ts';

export const showPayer: Page = async (ctx, { eventStore, personalData, recordAccess, show }) => {
  const { payment: loaded } = await loadHistory(ctx, eventStore);
  if (!loaded) throw new HttpProblem(404, 'This payment does not say who pays');
  const { transactionId } = loaded.request;
  await recordAccess(ctx, { what: 'payer', transactionId, detail: '' });
  const payment = await openPayment(loaded, personalData.open);
  const { request } = payment;
  await show(ctx, 'payments/payer.njk', {
    title: `Payer of ${request.reference}`,
    backUrl: `${paymentsPath}/${transactionId}`,
    request,
    withheld: withheldText(payment, 'en'),
    extra: Object.entries(request.extra).map(([name, value]) => ({
      name,
      value: typeof value === 'string' ? value : JSON.stringify(value),
    })),
    facts: factsAbout(payment),
  });
};

/** What the merchant and the bank say about the payer; empty fields are left out. */
function factsAbout({ request, results }: OpenPayment) {
  const { payer } = request;
  const place = `${payer.postcode} ${payer.city}`.trim();
  const address = [payer.address1, payer.address2, place, payer.state].filter((line) => line !== '');
  const buyers = [...new Set(results.map(({ buyerName }) => buyerName))];
  return [
    { label: 'Name', text: payer.name },
    { label: 'Email', text: payer.email },
    { label: 'IC number', text: payer.icNo },
    { label: 'Phone', text: payer.phoneNo },
    { label: 'Address', text: address.join(', ') },
    ...buyers.map((text) => ({ label: 'Name given by the bank', text })),
  ].filter(({ text }) => text !== '');
}
