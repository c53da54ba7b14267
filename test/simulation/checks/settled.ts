/** Checks at the end, when everything has had time to heal. */
import type { Payment } from '../../../src/events/payment.ts';
import { attemptsAtTheirEnd, openAttempts } from '../../../src/events/requery-schedule.ts';
import { unknownOutcomesOf } from '../../../src/events/unknown-outcomes.ts';
import type { Plan } from '../plan.ts';
import { merchants } from '../program/configuration.ts';
import type { Report } from '../violations.ts';
import type { Bank, Charge } from '../world/bank.ts';
import type { Received } from '../world/receivers.ts';
import type { ToldSettlement } from '../world/settlements.ts';
import type { Staff } from '../world/staff.ts';
import type { GivenVerdict } from '../world/verdicts.ts';
import type { LogCheck } from './log.ts';

/** The merchant may learn of an outcome this much later than it was recorded, if its receiver was well. */
const callbackBoundMs = 20 * 60_000;
/** Staff are told so long after the schedule of an attempt has ended that nobody knows what became of it. */
const toldWithinMs = 3_600_000;

export function checkSettled({
  plan,
  bank,
  log,
  heard,
  items,
  confirmed,
  verdicts,
  settlements,
  nowMs,
  report,
}: {
  plan: Plan;
  bank: Bank;
  log: LogCheck;
  heard: ReadonlyMap<string, readonly Received[]>;
  /** What the land registry has booked, by payment and receipt number. */
  items: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** What was confirmed to staff. */
  confirmed: ReturnType<Staff['confirmed']>;
  /** The verdicts that were. */
  verdicts: readonly GivenVerdict[];
  /** What they were told of settlements. */
  settlements: readonly ToldSettlement[];
  nowMs: number;
  report: Report;
}): void {
  const hasRestore = plan.faults.some(({ kind }) => kind === 'restore');
  const troubled = new Set(
    plan.faults.flatMap((fault) => (fault.kind === 'receiver' ? [`REF-${fault.merchant}`] : [])),
  );
  for (const id of bank.knownPayments)
    if (!log.payments.has(id) && !hasRestore) report('acknowledged-lost', id, 'The log has no such payment');
  for (const { transactionId: id, action } of confirmed) {
    const state = log.payments.get(id)?.state;
    if (hasRestore || !state || state.status === 'none') continue;
    if (action.kind === 'refund') {
      const { amountSen, gatewayReference } = action;
      const refunds = (state.adjustments ?? []).filter(
        (each) => each.kind === 'refunded' && each.gatewayReference === gatewayReference,
      );
      if (refunds.length !== 1 || refunds[0]?.amountSen !== amountSen)
        report('acknowledged-lost', id, `Refund ${gatewayReference} is recorded ${refunds.length} times`);
      continue;
    }
    const { resolution, resultNo } = action;
    const now = state.results[resultNo - 1]?.resolved?.resolution ?? 'open';
    if (now !== resolution)
      report('acknowledged-lost', id, `Result ${resultNo} is ${now}, and staff were told ${resolution}`);
  }
  for (const { transactionId: id, orderNo, outcome, amountSen } of verdicts) {
    const state = log.payments.get(id)?.state;
    if (hasRestore || !state || state.status === 'none') continue;
    const holds = state.results.some(
      (each) =>
        each.sellerOrderNo === orderNo &&
        each.outcome === outcome &&
        (amountSen === null || each.amountSen === amountSen),
    );
    if (!holds) report('acknowledged-lost', id, `Staff were told that ${orderNo} ${outcome}`);
  }
  for (const { settlement, sha256 } of settlements) {
    const { recorded, reversed } = log.settlements.find(settlement);
    const now = reversed ? null : recorded?.file.sha256;
    if (now !== sha256 && !hasRestore)
      report(
        'acknowledged-lost',
        settlement.reference,
        `Staff were told that it is ${sha256 === null ? 'reversed' : 'recorded'}`,
      );
  }
  for (const charge of bank.charges) {
    const payment = log.payments.get(charge.transactionId);
    // Taken back before the ledger heard that it was paid: the failure names it, and nothing is owed.
    const results = payment && payment.state.status !== 'none' ? payment.state.results : [];
    const isOwed = ({ id, reversedAtMs }: typeof charge) =>
      reversedAtMs === null || !results.some(({ gatewayTransactionId }) => gatewayTransactionId === id);
    if (!isOwed(charge)) continue;
    const owed = bank.chargesOf(charge.transactionId).filter(isOwed);
    const charged = owed.reduce((sum, { amountSen }) => sum + amountSen, 0);
    // What an older copy of the log lacks is lost; a stream that nobody can read is before staff.
    if ((!payment && hasRestore) || payment?.isUnreadable) continue;
    if (payment && payment.bookedSen >= BigInt(charged)) continue;
    if (log.isDiscrepancy(charge) || bank.setApart.has(charge.id)) continue;
    if (payment && (isOutcomeUnknown(payment.state) || isStillAsked(charge, payment.state, { bank, nowMs })))
      continue;
    const status = payment?.state.status ?? 'none';
    report(
      'charge-unknown',
      charge.transactionId,
      `${charge.id} is not in the books; the payment is ${status}`,
    );
  }
  for (const [id, { state, isUnreadable, calledAtMs }] of log.payments) {
    if (state.status === 'none' || isUnreadable) continue;
    for (const delivery of state.deliveries)
      if (delivery.state === 'due') report('delivery-stuck', id, `${delivery.key} is still due`);
    const told = state.deliveries.filter(
      ({ kind, state }) => kind === 'item' && state === 'delivered',
    ).length;
    const booked = items.get(id)?.size ?? 0;
    if (booked < told) report('item-lost', id, `The land registry booked ${booked} of ${told} items`);
    const isTroubled = troubled.has(`REF-${merchants.map(String).indexOf(state.request.merchant.code)}`);
    if (isTroubled) continue;
    for (const { change, atMs } of heard.get(id) ?? []) {
      const waitedMs = atMs - (calledAtMs.get(change) ?? atMs);
      if (waitedMs > callbackBoundMs)
        report('callback-late', id, `Callback ${change} arrived ${Math.round(waitedMs / 60_000)} min late`);
    }
  }
}

/** Whether staff have an attempt of it before them. */
const isOutcomeUnknown = (payment: Payment): boolean =>
  payment.status !== 'none' && unknownOutcomesOf(payment).some(({ settled }) => settled === null);

/** Whether the registry, which does not know it, is asked about it for longer than the simulation lasts. */
const isStillAsked = (
  { orderNo }: Charge,
  payment: Payment,
  { bank, nowMs }: { bank: Bank; nowMs: number },
) =>
  bank.orders.get(orderNo)?.registry !== undefined &&
  payment.status !== 'none' &&
  openAttempts(payment).some(({ sellerOrderNo }) => sellerOrderNo === orderNo) &&
  attemptsAtTheirEnd(payment, new Date(nowMs - toldWithinMs).toISOString()).every(
    ({ sellerOrderNo }) => sellerOrderNo !== orderNo,
  );
