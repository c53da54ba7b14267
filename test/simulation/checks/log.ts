/** Reads the log as it grows, folds it with the program's own functions, and checks what must hold after each event. */
import { type Sealed, type SealedPlace, sealedValuesOf } from '@ledger/personal-data/sealed.ts';
import type { Infer } from 'superstruct';
import { genesisHash, hashIn, isChainedOnto } from '../../../src/events/envelope.ts';
import { type Credential, merchantFold } from '../../../src/events/merchant.ts';
import { evolve, noPayment, type Payment } from '../../../src/events/payment.ts';
import { type Books, type Entry, enter } from '../../../src/events/postings.ts';
import { type ProjectionRequests, projectionRequestFold } from '../../../src/events/projection-requests.ts';
import type { DiscrepancyFound, reconciliationEvents } from '../../../src/events/reconciliation.ts';
import { settlementFold } from '../../../src/events/settlement.ts';
import { unmatchedFold, unmatchedStream } from '../../../src/events/unmatched.ts';
import type { History } from '../engine/history.ts';
import type { EventStoreCluster } from '../stores/event-store.ts';
import type { Report } from '../violations.ts';
import type { Bank } from '../world/bank.ts';
import { hadItsAge } from './erased.ts';
import { createEventCheck } from './payment-events.ts';
import { createQuarantineCheck } from './quarantine.ts';
import { createSettlementCheck } from './settlements.ts';
import { type Decoded, decode, readOrNull, summaryOf } from './stored.ts';

export type FoldedPayment = {
  state: Payment;
  books: Books | null;
  /** What the gateway has taken in for us by the books, in sen, whether or not it was given back. */
  bookedSen: bigint;
  /** The amounts that were booked as received. */
  debitsSen: readonly bigint[];
  /** Of these, the amounts that were taken out of suspense again, because no charge or another one was behind them. */
  withdrawnSen: readonly bigint[];
  receiptNo: string;
  isUnreadable: boolean;
  /** When each callback was called for, by the true time. */
  calledAtMs: ReadonlyMap<number, number>;
  /** When somebody last asked to have a delivery sent again, by the true time. */
  requestedAtMs: ReadonlyMap<string, number>;
  /** What its events hold sealed, erased or not. */
  sealed: readonly { value: Sealed<unknown>; place: SealedPlace }[];
  /** When each of its events was stored, by the clock of the event store. */
  timesMs: readonly number[];
  /** Since when a charge of it is recorded, in whatever way, by the true time; null if none is. */
  chargedSinceMs: number | null;
};

export type LogCheck = ReturnType<typeof createLogCheck>;

export function createLogCheck({
  cluster,
  bank,
  report,
  history,
  nowMs,
  retentionMs,
}: {
  cluster: EventStoreCluster;
  bank: Bank;
  report: Report;
  history: History;
  nowMs: () => number;
  /** How long personal data are kept; null for ever. */
  retentionMs: number | null;
}) {
  const payments = new Map<string, FoldedPayment>();
  const hashes = new Map<string, string>();
  const paidBy = new Map<string, string>();
  /** Open discrepancies by stream, as found last. */
  const discrepancies = new Map<string, DiscrepancyFound>();
  const shared = new Set<string>();
  /** What staff requested of each projection, by its stream. */
  const requests = new Map<string, ProjectionRequests>();
  /** What became of the credentials of merchants, by stream. */
  const credentials = new Map<string, readonly Credential[]>();
  const checkEvent = createEventCheck({ bank, report });
  const settlements = createSettlementCheck({ report, history });
  const quarantine = createQuarantineCheck({ report, history });
  let next = 0;
  let events = 0;

  function take(event: Decoded): void {
    events += 1;
    const { stream } = event;
    if (stream.startsWith('$')) return;
    if (!isChainedOnto(event, hashes.get(stream) ?? genesisHash))
      report('chain-broken', stream, `${event.type} is not chained onto the event before it`);
    hashes.set(stream, hashIn(event));
    if (stream.startsWith('payment-')) takePayment(stream.slice('payment-'.length), event);
    else if (stream.startsWith(unmatchedStream)) quarantine.take(event);
    else if (stream.startsWith(unmatchedFold.prefix)) quarantine.handle(event, retentionMs);
    else if (stream.startsWith('reconciliation-')) takeDiscrepancy(stream, event);
    else if (stream.startsWith(settlementFold.prefix)) settlements.take(stream, event);
    else if (stream.startsWith(projectionRequestFold.prefix)) takeRequest(stream, event);
    else if (stream.startsWith(merchantFold.prefix)) takeCredential(stream, event);
  }

  function takePayment(id: string, stored: Decoded): void {
    const before = payments.get(id) ?? {
      state: noPayment,
      books: null,
      bookedSen: 0n,
      debitsSen: [],
      withdrawnSen: [],
      receiptNo: '',
      isUnreadable: false,
      calledAtMs: new Map<number, number>(),
      requestedAtMs: new Map<string, number>(),
      sealed: [],
      timesMs: [],
      chargedSinceMs: null,
    };
    const event = readOrNull(stored);
    bank.isRecorded(id);
    if (!event) {
      payments.set(id, { ...before, isUnreadable: true });
      return;
    }
    history.tell(`log: ${event.type} ${summaryOf(event)} in ${id}`);
    const state = evolve(before.state, event);
    const { books, entry } = enter(before.books, event);
    const movedSen = entry ? gatewaySen(id, entry) : 0n;
    // Superseded money is booked by another entry. What staff settle was there, whatever they say of it.
    const isSuperseded = event.type === 'ExceptionResolved' && event.data.resolution === 'superseded';
    const isGivenBack = !isSuperseded && (entry?.kind === 'refund' || entry?.kind === 'reversal');
    const bookedSen = before.bookedSen + (isGivenBack ? 0n : movedSen);
    const receiptNo = state.status === 'none' ? '' : (state.receipt?.receiptNo ?? '');
    const calledAtMs = new Map(before.calledAtMs);
    for (const { kind, change } of state.status === 'none' ? [] : state.deliveries)
      if (kind === 'callback' && !calledAtMs.has(change)) calledAtMs.set(change, nowMs());
    const requestedAtMs = new Map(before.requestedAtMs);
    if (event.type === 'CallbackRequested') requestedAtMs.set(event.data.delivery, nowMs());
    const received = (entry?.postings ?? []).filter(
      ({ account, debitSen }) => account.startsWith('gateway:') && debitSen > 0n,
    );
    const debitsSen = [...before.debitsSen, ...received.map(({ debitSen }) => debitSen)];
    const reversed = entry?.kind === 'reversal' ? entry.postings : [];
    const isOfSuspense = reversed.some(
      ({ account, debitSen }) => account.startsWith('suspense:') && debitSen > 0n,
    );
    const credits = reversed.filter(
      ({ account, creditSen }) => account.startsWith('gateway:') && creditSen > 0n,
    );
    const withdrawn = isOfSuspense ? credits.map(({ creditSen }) => creditSen) : [];
    const withdrawnSen = [...before.withdrawnSen, ...withdrawn];
    const chargedSinceMs = isCharged(state) ? (before.chargedSinceMs ?? nowMs()) : null;
    const { stream } = stored;
    const found = sealedValuesOf(stored.data).map(({ field, value }) => ({
      value,
      place: { stream, field },
    }));
    const sealed = [...before.sealed, ...found];
    const timesMs = [...before.timesMs, stored.createdMs];
    const told = {
      receiptNo,
      isUnreadable: false,
      calledAtMs,
      requestedAtMs,
      sealed,
      timesMs,
      chargedSinceMs,
    };
    payments.set(id, { state, books, bookedSen, debitsSen, withdrawnSen, ...told });
    if (before.state.status === 'succeeded' && state.status !== 'succeeded')
      report('status-backwards', id, `It is ${state.status} after it had succeeded`);
    if (before.receiptNo !== '' && receiptNo !== before.receiptNo)
      report('receipt-changed', id, `Receipt ${before.receiptNo} became ${receiptNo}`);
    const chargedSen = bank.chargesOf(id).reduce((sum, { amountSen }) => sum + amountSen, 0);
    if (bookedSen > BigInt(chargedSen) && !bank.misreported.has(id))
      report('booked-twice', id, `The books hold ${bookedSen} sen, the bank has charged ${chargedSen}`);
    checkEvent({ id, event, before: before.state, state, chargedSen });
    if (event.type === 'PersonalDataErased' && event.data.reason === 'retention')
      checkAge(id, before.timesMs, stored.createdMs);
    if (event.type === 'PaymentSucceeded') noteId(id, event.data.result.gatewayTransactionId);
  }

  function checkAge(id: string, timesMs: readonly number[], erasedMs: number): void {
    if (!hadItsAge(timesMs, erasedMs, retentionMs))
      report('erased-early', id, `Its last event was at ${new Date(timesMs.at(-1) ?? 0).toISOString()}`);
  }

  function noteId(id: string, gatewayId: string): void {
    if (gatewayId === '') return;
    const other = paidBy.get(gatewayId);
    if (other !== undefined && other !== id) shared.add(gatewayId);
    paidBy.set(gatewayId, id);
  }

  function gatewaySen(id: string, { postings }: Entry): bigint {
    let balance = 0n;
    let gateway = 0n;
    for (const { account, debitSen, creditSen } of postings) {
      balance += debitSen - creditSen;
      if (account.startsWith('gateway:')) gateway += debitSen - creditSen;
    }
    if (balance !== 0n) report('unbalanced', id, `The debits exceed the credits by ${balance} sen`);
    return gateway;
  }

  function takeDiscrepancy(stream: string, { type, data }: Decoded): void {
    history.tell(`log: ${type} in ${stream}`);
    if (type === 'ReconciliationDifferenceFound') {
      discrepancies.set(stream, data as DiscrepancyFound);
      return;
    }
    const shownAsOf = discrepancies.get(stream)?.asOf ?? '';
    discrepancies.delete(stream);
    const { resolution, asOf } = data as Infer<typeof reconciliationEvents.ReconciliationDifferenceResolved>;
    if (resolution === 'vanished' && (asOf ?? '') < shownAsOf)
      report('discrepancy-hidden', stream, `The export of ${asOf} cleared what that of ${shownAsOf} showed`);
  }

  function takeRequest(stream: string, event: Decoded): void {
    history.tell(`log: ${event.type} in ${stream}`);
    const { evolve, initial, read } = projectionRequestFold;
    requests.set(stream, evolve(requests.get(stream) ?? initial, read(event)));
  }

  function takeCredential(stream: string, event: Decoded): void {
    history.tell(`log: ${event.type} in ${stream}`);
    const { evolve, initial, read } = merchantFold;
    credentials.set(stream, evolve(credentials.get(stream) ?? initial, read(event)));
  }

  return {
    /** Takes in what is new. */
    look(): void {
      for (let page = cluster.eventsFrom(next); page.length > 0; page = cluster.eventsFrom(next))
        for (const stored of page) {
          next = stored.position + 1;
          take(decode(stored));
        }
    },
    /** The log has become shorter: starts again from its beginning. */
    startAgain(): void {
      for (const known of [
        payments,
        hashes,
        quarantine,
        paidBy,
        discrepancies,
        shared,
        settlements,
        requests,
        credentials,
      ])
        known.clear();
      next = 0;
    },
    payments,
    settlements,
    quarantine,
    requests,
    credentials,
    discrepancies,
    /** The hash of the last event of a stream. */
    hashOf: (stream: string) => hashes.get(stream) ?? genesisHash,
    sharedIds: () => [...shared],
    /** Whether staff have the charge before them as a discrepancy. */
    isDiscrepancy: ({ id, transactionId }: { id: string; transactionId: string }): boolean =>
      [...discrepancies.values()].some(
        (each) => each.gatewayTransactionId === id || each.transactionId === transactionId,
      ),
    events: () => events,
  };
}

const isCharged = (payment: Payment): boolean =>
  payment.status !== 'none' &&
  payment.results.some(({ outcome, resolved }) => outcome === 'succeeded' && resolved === null);
