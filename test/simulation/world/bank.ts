/** The truth: what really happened to people's money, and what the program has acknowledged. */
import type { AttemptPlan } from '../plan.ts';

export type Charge = {
  /** The gateway's transaction id. */
  id: string;
  transactionId: string;
  orderNo: string;
  merchant: string;
  mode: string;
  amountSen: number;
  atMs: number;
  /** When the bank took it back; null if it has not. */
  reversedAtMs: number | null;
};

/** An attempt as the gateway knows it. */
export type Order = {
  orderNo: string;
  transactionId: string;
  merchant: string;
  /** The land registry's own name of the payment; `''` for others. */
  reference: string;
  mode: string;
  amountSen: number;
  status: 'open' | 'charged' | 'declined' | 'cancelled';
  /** While it is open: it waits for somebody else to agree. */
  isPending: boolean;
  chargeId: string;
  startedAtMs: number;
  endedAtMs: number;
  /** What the registry says of it for ever, as its attempt's plan says. */
  registry?: AttemptPlan['registry'];
};

export type Bank = ReturnType<typeof createBank>;

export function createBank(nowMs: () => number) {
  const charges: Charge[] = [];
  const orders = new Map<string, Order>();
  /** Transactions besides the one that ends their order. */
  const otherTransactions: Order[] = [];
  /** By merchant and reference: the transaction ids under which the program has answered. */
  const acknowledged = new Map<string, Set<string>>();
  const knownPayments = new Set<string>();
  /** Payments whose cancellation was acknowledged to the merchant. */
  const withdrawn = new Set<string>();
  /** Payments whose payers have given their address. */
  const withEmail = new Set<string>();
  const lost = new Set<string>();
  /** Payments about which the gateway has told something else than what happened. */
  const misreported = new Set<string>();
  /** When a process last answered, by its name and a transaction id, that it recorded a success. */
  const recordedAtMs = new Map<string, number>();
  /** Charges of which the program has taken a result, by payment and id: the gateway may use an id twice. */
  const told = new Set<string>();
  /** Transactions of which the program has taken a result that names their order. */
  const named = new Set<string>();
  /** Charges whose result was kept as unmatched, which staff see. */
  const setApart = new Set<string>();
  let numbers = 0;
  return {
    charges,
    orders,
    otherTransactions,
    misreported,
    setApart,
    named,
    told,
    knownPayments,
    withdrawn,
    withEmail,
    recordedAtMs,
    nextId() {
      numbers += 1;
      return `G${String(numbers).padStart(6, '0')}`;
    },
    charge(order: Order, amountSen: number): Charge {
      const charge = {
        id: order.chargeId,
        transactionId: order.transactionId,
        orderNo: order.orderNo,
        merchant: order.merchant,
        mode: order.mode,
        amountSen,
        atMs: nowMs(),
        reversedAtMs: null,
      };
      charges.push(charge);
      return charge;
    },
    chargesOf: (transactionId: string) => charges.filter((each) => each.transactionId === transactionId),
    /**
     * An older copy of the log has lost these payments: nobody can expect the program to know them, not even if its
     * answer is still on the way.
     */
    forget(transactionIds: readonly string[]): void {
      for (const id of transactionIds) {
        knownPayments.delete(id);
        lost.add(id);
      }
    },
    /** The log has it, perhaps again. */
    isRecorded: (transactionId: string) => void lost.delete(transactionId),
    /** The program has answered a request: the payment exists from now on. Returns how many the reference has. */
    acknowledge(merchant: string, reference: string, transactionId: string): number {
      const key = `${merchant} ${reference}`;
      const ids = acknowledged.get(key) ?? new Set();
      acknowledged.set(key, ids.add(transactionId));
      if (!lost.has(transactionId)) knownPayments.add(transactionId);
      return ids.size;
    },
  };
}
