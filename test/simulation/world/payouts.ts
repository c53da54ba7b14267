/** What the gateway pays out to our bank account and what is remitted to agencies, and the files that say so. */
import { dayOf } from '../../../src/common/malaysian-time.ts';
import type { Random } from '../engine/random.ts';
import { merchants } from '../program/configuration.ts';
import type { Bank } from './bank.ts';
import { ringgit } from './gateway.ts';

export type SettledRow = {
  /** Of the payment, also where the file leaves it out; `''` in a row of a remittance. */
  transactionId: string;
  /** The gateway's id of the charge, where the file has it. */
  chargeId: string;
  amountSen: number;
  /** Whether the row names the payment itself, not only the gateway's transaction. */
  namesPayment: boolean;
  cells: readonly string[];
};

export type SettlementFile = { text: string; rows: readonly SettledRow[] };

export type Settlement = {
  kind: 'payout' | 'remittance';
  reference: string;
  /** As they arrive, one after the other: the first may miss a charge, the last is right. */
  files: readonly SettlementFile[];
};

const headers = {
  payout: 'REFERENCE,SETTLED_ON,TOTAL,TRANS_ID,PAYMENT_TRANS_ID,PAYMENT_MODE,AMOUNT,FEE',
  remittance: 'REFERENCE,SETTLED_ON,TOTAL,MERCHANT_CODE,AMOUNT',
} as const;

export function createPayouts({ bank, nowMs }: { bank: Bank; nowMs: () => number }) {
  const paidOut = new Set<unknown>();
  const settlements: Settlement[] = [];

  const fileOf = (
    { kind, reference }: Pick<Settlement, 'kind' | 'reference'>,
    rows: readonly (SettledRow & { netSen: number })[],
    totalSen = rows.reduce((sum, { netSen }) => sum + netSen, 0),
  ): SettlementFile => {
    const first = [reference, dayOf(new Date(nowMs()).toISOString()), ringgit(totalSen)];
    const lines = rows.map(({ cells }) => [...first, ...cells].join(','));
    return { text: `${[headers[kind], ...lines].join('\n')}\n`, rows };
  };

  return {
    all: (): readonly Settlement[] => settlements,

    /** Pays out most of what was charged and not taken back; at times a charge that it has paid out before. */
    payOut(random: Random): void {
      const due = bank.charges.filter((charge) => charge.reversedAtMs === null && !paidOut.has(charge));
      const before = bank.charges.filter((charge) => paidOut.has(charge));
      const again = before.length > 0 && random.chance(0.2) ? [random.pick(before)] : [];
      const rows = due
        .filter(() => random.chance(0.9))
        .concat(again)
        .map((charge) => {
          paidOut.add(charge);
          const { amountSen, id, mode, transactionId } = charge;
          const names = random.pick(['both', 'both', 'both', 'payment', 'transaction'] as const);
          const chargeId = names === 'payment' ? '' : id;
          const feeSen = random.pick([0, 50]);
          const cells = [
            names === 'transaction' ? '' : transactionId,
            chargeId,
            random.chance(0.1) ? '' : mode,
            ringgit(amountSen),
            ringgit(feeSen),
          ];
          const namesPayment = names !== 'transaction';
          return { transactionId, chargeId, amountSen, netSen: amountSen - feeSen, namesPayment, cells };
        });
      if (rows.length === 0) return;
      const about = { kind: 'payout', reference: `PO-${settlements.length + 1}` } as const;
      const right = fileOf(about, rows);
      const missing = random.integer(1, rows.length);
      const others = rows.filter((_, index) => index !== missing);
      const totalSen = rows.reduce((sum, { netSen }) => sum + netSen, 0);
      const wrong = random.chance(0.7) ? fileOf(about, others) : fileOf(about, others, totalSen);
      const hasWrong = others.length < rows.length && random.chance(0.5);
      settlements.push({ ...about, files: hasWrong ? [wrong, right] : [right] });
    },

    /** Hands some money on to an agency or two. */
    handOn(random: Random): void {
      const rows = merchants
        .filter(() => random.chance(0.5))
        .map((code) => {
          const amountSen = random.integer(100, 100_000);
          const cells = [code, ringgit(amountSen)];
          return {
            transactionId: '',
            chargeId: '',
            amountSen,
            netSen: amountSen,
            namesPayment: false,
            cells,
          };
        });
      if (rows.length === 0) return;
      const about = { kind: 'remittance', reference: `Batch ${settlements.length + 1}` } as const;
      settlements.push({ ...about, files: [fileOf(about, rows)] });
    },
  };
}
