/** The life of one payment: what the bank took, and where that money is. */
import type { Sen } from '../../../src/common/money.ts';
import type { RequestedPayment } from '../../../src/events/payment.ts';
import type { Books } from '../../../src/events/postings.ts';
import type { RecordedResult } from '../../../src/events/recorded-result.ts';
import type { Random } from '../engine/random.ts';

/** What the bank took from the payer's account; null as a sum is an attempt that came to nothing. */
export type BankRecord = {
  attempt: number;
  id: string;
  sen: Sen | null;
  at: string;
  takenBackAt: string | null;
  /** The gateway had reported that the payer cancelled it. */
  isDenied: boolean;
};

export type Life = {
  random: Random;
  nowMs: number;
  state: RequestedPayment;
  books: Books | null;
  /** Debits less credits of the gateway's accounts. */
  gatewaySen: number;
  bank: BankRecord[];
  /** Of these payments much goes wrong at the bank and the gateway. */
  isTroubled: boolean;
  /** The merchant accepts a part of what it asked for. */
  takesParts: boolean;
  /** Whether merchant and payer have been told so. */
  isPaid: boolean;
  figures: Map<string, number>;
};

export const hourMs = 3_600_000;
export const isCharge = (each: BankRecord): each is BankRecord & { sen: Sen } => each.sen !== null;
export const timeOf = ({ nowMs }: Life) => new Date(nowMs).toISOString();

export function count({ figures }: Life, name: string): void {
  figures.set(name, (figures.get(name) ?? 0) + 1);
}

/** The success that the books have of a charge. */
export function resultOf({ results }: RequestedPayment, { id }: BankRecord): RecordedResult | undefined {
  return results.find(
    ({ gatewayTransactionId, outcome, role, resolved }) =>
      gatewayTransactionId === id &&
      outcome === 'succeeded' &&
      role !== 'contradiction' &&
      resolved?.resolution !== 'superseded',
  );
}

type Whereabouts = 'not known' | 'paid' | 'open' | 'refunded' | 'taken back';

/** Where the money of a charge is, as the fold says. */
export function whereabouts(payment: RequestedPayment, charge: BankRecord): Whereabouts {
  const found = resultOf(payment, charge);
  if (!found) return 'not known';
  const number = payment.results.indexOf(found) + 1;
  const { resolution } = found.resolved ?? {};
  const isReversed = payment.adjustments?.some(
    (each) => each.kind === 'reversed' && each.chargeNo === number,
  );
  if (isReversed) return 'taken back';
  if (found.role === 'applied' || found.credited) return 'paid';
  if (resolution === undefined) return 'open';
  if (resolution === 'explained') return 'taken back';
  return resolution === 'refunded' ? 'refunded' : 'paid';
}
