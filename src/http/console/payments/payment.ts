/** GET /console/payments/{id}: everything that happened to a payment, without anything about the payer. */
import type { HistoryEntry, HistoryVerdict } from '../../../audit/history/history.ts';
import type { Approval } from '../../../events/approvals.ts';
import { chargesOf } from '../../../events/charges.ts';
import { exceptionsOf, type PaymentException } from '../../../events/exceptions.ts';
import { currentResult, type RequestedPayment } from '../../../events/payment.ts';
import { attemptOf } from '../../../events/payment-result.ts';
import { isHolding } from '../../../events/personal-data.ts';
import { standingOf } from '../../../events/standing.ts';
import { type UnknownOutcome, unknownOutcomesOf } from '../../../events/unknown-outcomes.ts';
import { texts as receiptTexts } from '../../../receipts/texts.ts';
import type { Page, PageDependencies } from '../frame/page.ts';
import { loadAccount } from '../frame/session.ts';
import { texts } from '../texts.ts';
import { shownDeliveries } from './deliveries.ts';
import { eventText } from './event-text.ts';
import { loadHistory } from './load.ts';
import { paymentsPath } from './search.ts';

export const showPayment: Page = async (ctx, { eventStore, show }) => {
  const { entries, events, payment, verdict } = await loadHistory(ctx, eventStore);
  const names = await staffNames(entries, eventStore);
  const id = ctx.params.id ?? '';
  const readable = events.filter((event) => event !== null);
  await show(ctx, 'payments/payment.njk', {
    title: payment?.request.reference ?? id,
    id,
    path: `${paymentsPath}/${id}`,
    summary: payment && summaryOf(payment),
    timeline: entries.map((entry, index) => {
      const event = events[index];
      return {
        revision: entry.revision,
        at: entry.at,
        type: entry.type,
        actor: (entry.actor && names.get(entry.actor)) ?? entry.actor ?? 'not known',
        text: event ? eventText(event) : texts.events.unreadable,
        status: entry.state.status === 'none' ? 'none' : standingOf(entry.state),
        isChained: entry.fits,
      };
    }),
    verdict: verdictText(verdict, entries.length),
    isWhole: verdict.kind === 'whole',
    deliveries: payment ? shownDeliveries(payment, readable) : [],
    exceptions: payment
      ? [
          ...exceptionsOf(payment).map(shownException),
          ...unknownOutcomesOf(payment).map(shownUnknown),
          ...(payment.approvals ?? []).map(shownApproval),
        ]
      : [],
  });
};

function shownException({ resultNo, kind, at, amountSen, resolved }: PaymentException) {
  return {
    kindPath: 'payment',
    no: resultNo,
    name: texts.exceptions.kinds[kind].name,
    at,
    amountSen,
    resolution: resolved && texts.exceptions.resolutions[resolved.resolution],
  };
}

function shownUnknown({ no, at, amountSen, settled }: UnknownOutcome) {
  const { name } = texts.exceptions.kinds.outcomeUnknown;
  return {
    kindPath: 'attempt',
    no,
    name,
    at,
    amountSen,
    resolution: settled && texts.exceptions.resolutions[settled.outcome],
  };
}

function shownApproval({ no, at, amountSen, decided }: Approval) {
  const { name } = texts.exceptions.kinds.approval;
  const resolution = decided && texts.exceptions.resolutions[decided.outcome];
  return { kindPath: 'approval', no, name, at, amountSen, resolution };
}

function summaryOf(payment: RequestedPayment) {
  const { receipt, request, status } = payment;
  const result = currentResult(payment);
  const attempt = attemptOf(payment, result?.sellerOrderNo ?? '');
  const mode = result?.mode || attempt?.mode;
  return {
    status: standingOf(payment),
    amountSen: request.amountSen,
    feeSen: attempt?.chargeSen ?? 0,
    merchant: request.merchant,
    channel: request.channel,
    reference: request.reference,
    service: request.service,
    requestedAt: request.at,
    receiptNo: receipt?.receiptNo ?? '',
    method: mode ? receiptTexts.en.modes[mode] : '',
    attempts: payment.attempts.length,
    paidAt: status === 'succeeded' ? (result?.paidAt ?? result?.at ?? '') : '',
    gatewayTransactionId: result?.gatewayTransactionId ?? '',
    lastRequery: payment.lastRequery,
    erasedAt: payment.personalData.erasedAt,
    isHolding: isHolding(payment.personalData),
    paidSen: payment.paidSen ?? 0,
    returned: (payment.adjustments ?? []).filter(({ kind }) => kind !== 'credited'),
    isRefundable: chargesOf(payment).some(({ leftSen }) => leftSen > 0),
  };
}

function verdictText(verdict: HistoryVerdict, count: number): string {
  switch (verdict.kind) {
    case 'whole':
      return `The chain of ${count} ${count === 1 ? 'event' : 'events'} is whole: none was changed since it was written.`;
    case 'broken':
      return `The chain is broken at event ${verdict.revision}: this event, or the one before it, was changed after it was written.`;
    case 'unreadable':
      return `Event ${verdict.revision} was not changed since it was written, but this program cannot read it.`;
  }
}

const staffActor = /^staff:([0-9A-HJKMNP-TV-Z]{26})$/;

async function staffNames(
  entries: readonly HistoryEntry[],
  eventStore: PageDependencies['eventStore'],
): Promise<ReadonlyMap<string, string>> {
  const actors = new Set(entries.flatMap(({ actor }) => actor ?? []));
  const found = await Promise.all(
    Array.from(actors, async (actor): Promise<[string, string][]> => {
      const [, id] = staffActor.exec(actor) ?? [];
      const account = id === undefined ? null : await loadAccount(eventStore, id);
      return account ? [[actor, account.name]] : [];
    }),
  );
  return new Map(found.flat());
}
