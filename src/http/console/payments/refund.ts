/** /console/payments/{id}/refund: records that the payer was refunded, in whole or in part. */
import { InvalidFields } from '../../../commands/fields.ts';
import { isSameReference } from '../../../commands/refunds.ts';
import type { Language } from '../../../common/languages.ts';
import { formatSen, readAmount } from '../../../common/money.ts';
import { phrase } from '../../../common/phrases.ts';
import { type Charge, chargesOf } from '../../../events/charges.ts';
import { paymentStream, type RequestedPayment, requestedIn } from '../../../events/payment.ts';
import { texts } from '../../../receipts/texts.ts';
import { type Context, languageOf } from '../../server/context.ts';
import { loadRequested } from '../../server/load-history.ts';
import { effectOf, isConfirmed } from '../frame/confirm.ts';
import type { FormPage } from '../frame/form-page.ts';
import { type Fields, readNote } from '../frame/forms-and-lists.ts';
import { actingFor, leadTo, staffCause } from '../frame/page.ts';
import { paymentsPath } from './search.ts';

export const refund: FormPage = {
  template: 'payments/refund.njk',
  async model(ctx, { eventStore }, typed) {
    const { payment } = await loadRequested(ctx, eventStore);
    const charges = chargesOf(payment).filter(({ leftSen }) => leftSen > 0);
    return {
      title: titleOf(ctx, payment),
      path: `${paymentsPath}/${payment.request.transactionId}`,
      charges: charges.map((charge) => ({
        ...charge,
        method: methodName(charge, languageOf(ctx)),
        left: formatSen(charge.leftSen),
      })),
      typed: typed ?? {},
    };
  },
  async submit(ctx, dependencies, form) {
    const { events: past, head, payment } = await loadRequested(ctx, dependencies.eventStore);
    const { merchant, transactionId } = payment.request;
    const action = { kind: 'refund', ...readRefund(form) } as const;
    const command = { type: 'TakeAction', action, ...actingFor(ctx, dependencies, merchant) } as const;
    const effect = effectOf(command, payment, past);
    if (!(await isConfirmed(ctx, dependencies, titleOf(ctx, payment), effect))) return;
    const stream = paymentStream(transactionId);
    const { state } = await dependencies.execute(stream, command, staffCause(ctx), { from: head });
    // The events cannot tell: there are none if the same refund is proposed again.
    const isRecorded = requestedIn(state)?.adjustments?.some(
      (each) => each.kind === 'refunded' && isSameReference(each.gatewayReference, action.gatewayReference),
    );
    leadTo(ctx, `${paymentsPath}/${transactionId}`, isRecorded ? 'refunded' : 'approval-requested');
  },
};

const titleOf = (ctx: Context, { request }: RequestedPayment) =>
  phrase(languageOf(ctx), 'Refund of {reference}', { reference: request.reference });

const methodName = ({ mode }: Charge, lang: Language) =>
  mode === '' ? phrase(lang, 'method not known') : texts[lang].modes[mode];

/** Throws InvalidFields. */
function readRefund({ amount = '', chargeNo = '', gatewayReference = '', reason }: Fields) {
  const amountSen = readAmount(amount.trim());
  if (!amountSen) throw new InvalidFields('Write an amount of more than 0.00, such as 120.50');
  if (!/^[1-9]\d{0,5}$/.test(chargeNo)) throw new InvalidFields('Choose the charge');
  const named = gatewayReference.trim();
  if (!/^[\x21-\x7e](?:[\x20-\x7e]{0,98}[\x21-\x7e])?$/.test(named))
    throw new InvalidFields('The reference must have 1 to 100 letters (A to Z), digits and signs');
  const read = { chargeNo: Number(chargeNo), amountSen, gatewayReference: named };
  return { ...read, reason: readNote('reason', reason) };
}
