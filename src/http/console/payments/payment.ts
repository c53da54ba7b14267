/** GET /console/payments/{id}: everything that happened to a payment, without anything about the payer. */
import { isHolding } from '@ledger/personal-data/sealed.ts';
import { shownDeliveries } from '../../../audit/history/deliveries.ts';
import { entriesUntil, readUntil } from '../../../audit/history/history.ts';
import { refusalToBegin } from '../../../commands/refusal-to-pay.ts';
import { chargesOf, priceOf } from '../../../events/charges.ts';
import { currentResult, type RequestedPayment, requestedIn } from '../../../events/payment.ts';
import { attemptOf } from '../../../events/payment-result.ts';
import { standingOf } from '../../../events/payment-standing.ts';
import { leftForStaff } from '../../../projections/exceptions/write.ts';
import { createLinks } from '../../../receipts/payment-links.ts';
import { languageOf } from '../../server/context.ts';
import { loadHistory } from '../../server/load-history.ts';
import { readQuery } from '../frame/forms-and-lists.ts';
import type { Page } from '../frame/page.ts';
import { actorNames } from '../frame/session.ts';
import { texts } from '../texts.ts';
import { eventText } from './event-text.ts';
import { paymentsPath } from './search.ts';

/** With `at` or `revision` in the query, shows the payment as it was then, without what came later. */
export const showPayment: Page = async (ctx, { config, eventStore, runtime, show }) => {
  const history = await loadHistory(ctx, eventStore);
  const { at, revision } = readQuery(ctx);
  const entries = entriesUntil(history, readUntil({ at: at || undefined, revision }));
  const events = history.events.slice(0, entries.length);
  const later = history.entries.length - entries.length;
  const payment = later === 0 ? history.payment : requestedIn(entries.at(-1)?.state);
  const actors = entries.map(({ actor }) => actor);
  const nameOf = await actorNames(eventStore, actors);
  const id = ctx.params.id ?? '';
  const lang = languageOf(ctx);
  await show(ctx, 'payments/payment.njk', {
    title: payment?.request.reference ?? id,
    id,
    path: `${paymentsPath}/${id}`,
    at: at || entries.at(-1)?.at,
    later,
    summary: payment && summaryOf(payment),
    payUrl:
      payment && !refusalToBegin(payment, runtime.now().toISOString())
        ? createLinks({ ...config, runtime })[payment.request.channel].pay(id)
        : null,
    notes: events.filter((event) => event?.type === 'StaffNoteAdded').length,
    timeline: entries.map((entry, index) => {
      const event = events[index];
      return {
        ...entry,
        actor: nameOf(entry.actor),
        text: event ? eventText(event, lang) : texts[lang].events.unreadable,
        status: entry.state.status === 'none' ? 'none' : standingOf(entry.state),
      };
    }),
    verdict: history.verdict,
    deliveries: payment ? shownDeliveries(payment, events, runtime.now()) : [],
    exceptions: payment ? leftForStaff(payment) : [],
  });
};

function summaryOf(payment: RequestedPayment) {
  const { status } = payment;
  const result = currentResult(payment);
  return {
    ...payment,
    status: standingOf(payment),
    feeSen: priceOf(payment).feeSen,
    mode: result?.mode || attemptOf(payment, result?.sellerOrderNo ?? '')?.mode,
    paidAt: status === 'succeeded' ? (result?.paidAt ?? result?.at ?? '') : '',
    gatewayTransactionId: result?.gatewayTransactionId ?? '',
    isHolding: isHolding(payment.personalData),
    returned: (payment.adjustments ?? []).filter(({ kind }) => kind !== 'credited'),
    charges: chargesOf(payment),
  };
}
