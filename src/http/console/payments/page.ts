/** GET /console/payments/{id}: what happened to a payment, all of it, and nothing about who paid. */
import type { HistoryEntry, HistoryVerdict } from '../../../audit/history/history.ts';
import { exceptionsOf } from '../../../events/exceptions.ts';
import { currentResult, type PaymentEvent, type RequestedPayment } from '../../../events/payment.ts';
import { attemptOf } from '../../../events/payment-result.ts';
import { texts } from '../../../receipts/texts.ts';
import type { Context } from '../../server/context.ts';
import { kindTexts } from '../exceptions/texts.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import type { ConsoleRoute } from '../frame/route.ts';
import { loadAccount } from '../frame/session.ts';
import { shownDeliveries } from './deliveries.ts';
import { eventText } from './event-text.ts';
import { paymentsPath } from './find.ts';
import { loadHistory, stateOf } from './load.ts';

export function pageRoutes(parts: ConsoleParts): ConsoleRoute[] {
  return [
    {
      method: 'get',
      path: '/console/payments/:id',
      action: 'look',
      handle: (ctx) => showPayment(ctx, parts),
    },
  ];
}

async function showPayment(ctx: Context, { eventStore, frame }: ConsoleParts): Promise<void> {
  const loaded = await loadHistory(ctx, eventStore);
  const payment = stateOf(loaded);
  const { entries, events, verdict } = loaded;
  const names = await namesOf(entries, eventStore);
  const id = ctx.params.id ?? '';
  await frame.show(ctx, 'payments/payment.njk', {
    title: payment?.request.reference ?? id,
    id,
    path: `${paymentsPath}/${id}`,
    summary: payment && summaryOf(payment),
    timeline: entries.map((entry, index) => ({
      revision: entry.revision,
      at: entry.at,
      type: entry.type,
      actor: (entry.actor && names.get(entry.actor)) ?? entry.actor ?? 'not known',
      text: textOf(events[index]),
      status: entry.state.status,
      fits: entry.fits,
    })),
    verdict: verdictText(verdict, entries.length),
    isWhole: verdict.kind === 'whole',
    deliveries: payment
      ? shownDeliveries(
          payment,
          events.filter((event) => event !== null),
        )
      : [],
    exceptions: payment
      ? exceptionsOf(payment).map((each) => ({ ...each, name: kindTexts[each.kind].name }))
      : [],
  });
}

function summaryOf(payment: RequestedPayment) {
  const { receipt, request, status } = payment;
  const result = currentResult(payment);
  const attempt = result ? attemptOf(payment, result) : payment.attempts.at(-1);
  const mode = result?.mode || attempt?.mode;
  return {
    status,
    amountSen: request.amountSen,
    chargeSen: attempt?.chargeSen ?? 0,
    merchant: request.merchant,
    channel: request.channel,
    reference: request.reference,
    service: request.service,
    requestedAt: request.at,
    receiptNo: receipt?.receiptNo ?? '',
    method: mode ? texts.en.modes[mode] : '',
    attempts: payment.attempts.length,
    paidAt: status === 'succeeded' ? (result?.paidAt ?? result?.at ?? '') : '',
    gatewayTransactionId: result?.gatewayTransactionId ?? '',
    lastRequery: payment.lastRequery,
  };
}

function textOf(event: PaymentEvent | null | undefined): string {
  return event ? eventText(event) : 'This event cannot be read';
}

function verdictText(verdict: HistoryVerdict, count: number): string {
  switch (verdict.kind) {
    case 'whole':
      return `The chain of ${count} ${count === 1 ? 'event' : 'events'} is whole: each is as it was written.`;
    case 'broken':
      return `The chain is broken at event ${verdict.revision}: it, or the one before it, is not what was written.`;
    case 'unreadable':
      return `Event ${verdict.revision} is as it was written, and cannot be read by this program.`;
  }
}

const staffActor = /^staff:([0-9A-HJKMNP-TV-Z]{26})$/;

/** Of those of the console's staff who did something here, by actor. */
async function namesOf(
  entries: readonly HistoryEntry[],
  eventStore: ConsoleParts['eventStore'],
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
