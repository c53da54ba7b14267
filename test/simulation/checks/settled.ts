/** Checks at the end, when everything has had time to heal. */
import type { Payment } from '../../../src/events/payment.ts';
import { registryFaults } from '../../../src/events/payment-result.ts';
import { standingOf } from '../../../src/events/payment-standing.ts';
import { attemptsAtTheirEnd, nextRequeryAt, openAttempts } from '../../../src/events/requery-schedule.ts';
import { unknownOutcomesOf } from '../../../src/events/unknown-attempt-outcomes.ts';
import { minute } from '../fault-kinds.ts';
import { databaseAheadMsIn, losesLog, type Plan } from '../plan.ts';
import type { Simulation } from '../play-out.ts';
import { merchants } from '../program/configuration.ts';
import type { Report } from '../violations.ts';
import type { Bank, Charge } from '../world/bank.ts';
import type { Receivers } from '../world/receivers.ts';
import type { LogCheck } from './log.ts';
import { checkSentAgain } from './sent-again.ts';
import { checkTold } from './told.ts';

/** The merchant may learn of an outcome this much later than it was recorded, if its receiver was well. */
const callbackBoundMs = 20 * minute;
/** Staff are told so long after the schedule of an attempt has ended that nobody knows what became of it. */
const toldWithinMs = 60 * minute;

type Settled = {
  plan: Plan;
  bank: Bank;
  log: LogCheck;
  nowMs: number;
  report: Report;
};

export function checkSettled({
  plan,
  bank,
  logCheck: log,
  receivers,
  staff,
  scheduler,
  violations: { report },
}: Simulation): void {
  const settled = { plan, bank, log, nowMs: scheduler.nowMs(), report };
  const hasRestore = losesLog(plan);
  for (const id of bank.knownPayments)
    if (!log.payments.has(id) && !hasRestore) report('acknowledged-lost', id, 'The log has no such payment');
  if (!hasRestore) checkTold(staff, log, report);
  checkWithdrawals(settled, hasRestore);
  checkCharges(settled, hasRestore);
  checkAttempts(settled);
  checkDeliveries(settled, receivers);
  // After a failover, who sends something may hold no lease on it.
  const hasFailover = plan.faults.some(({ kind }) => kind === 'postgres-failover');
  if (!hasRestore && !hasFailover) checkSentAgain(receivers.posted, log, report);
  for (const [stream, { requestedAt, retries }] of log.requests)
    if (requestedAt !== null || retries.length > 0)
      report('request-open', stream, `Requested: ${requestedAt ?? `to try again ${retries.join(', ')}`}`);
}

function checkWithdrawals({ bank, log, nowMs, report }: Settled, hasRestore: boolean): void {
  for (const [id, { state, isUnreadable }] of log.payments) {
    if (state.status === 'none' || isUnreadable) continue;
    const isRecorded = state.results.some(({ source }) => source === 'merchant' || source === 'expiry');
    if (isRecorded) continue;
    if (bank.withdrawn.has(id) && !hasRestore)
      report('acknowledged-lost', id, 'Its cancellation was acknowledged, and is not in the log');
    const { expiresAt } = state.request;
    const isFree = ['requested', 'failed', 'cancelled'].includes(standingOf(state));
    if (
      expiresAt !== undefined &&
      isFree &&
      Date.parse(expiresAt) < nowMs - toldWithinMs &&
      openAttempts(state).length === 0
    )
      report('expiry-forgotten', id, `It has expired at ${expiresAt} and is ${state.status}`);
  }
}

function checkCharges({ bank, log, nowMs, report }: Settled, hasRestore: boolean): void {
  for (const charge of bank.charges) {
    const payment = log.payments.get(charge.transactionId);
    // Taken back before the ledger heard that it was paid: the failure names it, and nothing is owed.
    const results = payment && payment.state.status !== 'none' ? payment.state.results : [];
    const isHeard = ({ id }: Charge) => results.some((it) => it.gatewayTransactionId === id);
    const isPaid = ({ id }: Charge) =>
      results.some((it) => it.gatewayTransactionId === id && it.outcome === 'succeeded');
    // In another transaction of its order, or in one of another order that was taken to be of this one, because nothing
    // that reported it named its order.
    const hasFailed = ({ id, orderNo }: Charge) =>
      bank.otherTransactions.some(
        (it) => it.orderNo === orderNo && (it.status === 'declined' || it.status === 'cancelled'),
      ) ||
      results.some(
        (it) =>
          it.isOrderInferred &&
          !bank.named.has(it.gatewayTransactionId) &&
          it.sellerOrderNo === orderNo &&
          it.gatewayTransactionId !== id &&
          (it.outcome === 'failed' || it.outcome === 'cancelled'),
      );
    const isFoundLater = (each: Charge) =>
      hasFailed(each) &&
      !bank.told.has(`${each.transactionId} ${each.id}`) &&
      !isPaid(each) &&
      payment &&
      isAskedNextDay(payment.state, each, nowMs);
    const isOwed = (each: Charge) => !isFoundLater(each) && (each.reversedAtMs === null || !isHeard(each));
    if (!isOwed(charge)) continue;
    const owed = bank.chargesOf(charge.transactionId).filter(isOwed);
    const charged = owed.reduce((sum, { amountSen }) => sum + amountSen, 0);
    // What an older copy of the log lacks is lost; a stream that nobody can read is before staff.
    if ((!payment && hasRestore) || payment?.isUnreadable) continue;
    if (payment && payment.bookedSen >= BigInt(charged)) continue;
    if (log.isDiscrepancy(charge) || bank.setApart.has(charge.id)) continue;
    if (payment && isOutcomeUnknown(payment.state)) continue;
    const hidden = [...bank.orders.values()].filter(
      ({ registry, transactionId }) => registry && transactionId === charge.transactionId,
    );
    if (payment && hidden.length > 0 && isStillAsked(payment.state, nowMs)) continue;
    // Records of the registry name no order: that of another charge was taken to be about the one that it does not show.
    if (
      hidden.some(({ orderNo }) => results.some((it) => it.isOrderInferred && it.sellerOrderNo === orderNo))
    )
      continue;
    const status = payment?.state.status ?? 'none';
    report(
      'charge-unknown',
      charge.transactionId,
      `${charge.id} is not in the books; the payment is ${status}`,
    );
  }
}

/** Whether staff have an attempt of it before them. */
const isOutcomeUnknown = (payment: Payment): boolean =>
  payment.status !== 'none' && unknownOutcomesOf(payment).some(({ settled }) => settled === null);

/** The attempts that staff should have been told of. */
function untold(payment: Payment, nowMs: number) {
  if (payment.status === 'none') return [];
  return attemptsAtTheirEnd(payment, new Date(nowMs - toldWithinMs).toISOString());
}

/** Whether the registry is asked about one of its attempts for longer than the simulation lasts. */
const isStillAsked = (payment: Payment, nowMs: number): boolean =>
  payment.status !== 'none' &&
  openAttempts(payment).some((attempt) => !untold(payment, nowMs).includes(attempt));

/** Another transaction of the order has failed, which ends the attempt: the registry is asked again a day later. */
function isAskedNextDay(payment: Payment, { id, orderNo, atMs }: Charge, nowMs: number): boolean {
  if (payment.status === 'none') return false;
  const { lastRequery, results } = payment;
  const failures = results.filter(
    ({ outcome, sellerOrderNo }) =>
      sellerOrderNo === orderNo && (outcome === 'failed' || outcome === 'cancelled'),
  );
  // What is pending in its own transaction is asked about all the time, until a failure does not say which one has failed.
  const isPending = results.some(
    (it) => it.outcome === 'pending' && it.role === 'applied' && it.gatewayTransactionId === id,
  );
  const isEnded = failures.some(({ gatewayTransactionId }) => !isPending || gatewayTransactionId === '');
  const wasAnswered =
    lastRequery !== null && !isFault(lastRequery.status) && Date.parse(lastRequery.at) > atMs;
  return isEnded && !wasAnswered && Date.parse(nextRequeryAt(payment) ?? '') > nowMs;
}

const isFault = (status: string) => registryFaults.some((fault) => fault === status);

function checkAttempts({ log, nowMs, report }: Settled): void {
  for (const [id, { state, isUnreadable }] of log.payments)
    for (const { sellerOrderNo } of isUnreadable ? [] : untold(state, nowMs))
      report('attempt-untold', id, `Nobody is asked about ${sellerOrderNo}`);
}

function checkDeliveries({ plan, log, report }: Settled, { heard, items }: Receivers): void {
  const troubled = new Set(
    plan.faults.flatMap((fault) => (fault.kind === 'receiver' ? [`REF-${fault.merchant}`] : [])),
  );
  // What is due goes by the clock of PostgreSQL.
  const boundMs = callbackBoundMs + databaseAheadMsIn(plan);
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
    // Staff may have it sent again much later.
    for (const [change, [first]] of Map.groupBy(heard.get(id) ?? [], (each) => each.change)) {
      const calledMs = calledAtMs.get(change);
      const waitedMs = first && calledMs !== undefined ? first.atMs - calledMs : 0;
      if (waitedMs > boundMs)
        report('callback-late', id, `Callback ${change} arrived ${Math.round(waitedMs / 60_000)} min late`);
    }
  }
}
