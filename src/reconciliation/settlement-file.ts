/** The files of payouts and remittances, recognised by their header, and how a row of each is read. */
import { boundsOfDay } from '../common/malaysian-time.ts';
import { isRinggit, readAmount, type Sen, sumText } from '../common/money.ts';
import { paymentModes } from '../common/payment-modes.ts';
import type { SettlementKind } from '../events/settlement.ts';
import type { NamedCharge } from '../projections/journal/settlements.ts';
import { columnsOf, type Fields, UnreadableExport } from './export-format.ts';

/** What all rows of a file have in common. */
type SettlementHead = { reference: string; settledOn: string; totalSen: Sen };

/** A charge that the gateway paid out, or a sum without ids: of a method, or for an agency. */
export type SettlementRow = NamedCharge & {
  /** The account that the row names. For a charge, the one in the books counts. */
  account: string;
  feeSen: Sen;
};

/** What only a payout may have. */
const ofPayouts = ['TRANS_ID', 'PAYMENT_TRANS_ID', 'FEE'];
const required = {
  payout: ['REFERENCE', 'SETTLED_ON', 'TOTAL', 'PAYMENT_MODE', 'AMOUNT'],
  remittance: ['REFERENCE', 'SETTLED_ON', 'TOTAL', 'MERCHANT_CODE', 'AMOUNT'],
} as const satisfies Record<SettlementKind, readonly string[]>;
const accountColumns = { payout: 'PAYMENT_MODE', remittance: 'MERCHANT_CODE' } as const;

/** Nothing that a spreadsheet takes for a formula. */
const referencePattern = /^\w[\w.:/ -]{0,63}$/;
export const methods = [...paymentModes, 'unknown'] as const;

/** `merchants` are the codes of those that have an account in the journal. Throws UnreadableExport for any other header. */
export function recogniseSettlement(header: readonly string[], merchants: readonly string[]) {
  const { fieldsOf, names } = columnsOf(header);
  const [kind, other] = (['payout', 'remittance'] as const).filter((each) =>
    required[each].every((name) => names.includes(name)),
  );
  // Money that went out must not be booked as money that came in, because remittances also name methods.
  if (other && !ofPayouts.some((name) => names.includes(name)))
    throw new UnreadableExport(
      'The first row is the header of a payout and of remittances: leave out MERCHANT_CODE or PAYMENT_MODE',
    );
  if (!kind)
    throw new UnreadableExport(
      `The first row is neither the header of a payout (${required.payout.join(', ')}) nor of remittances (${required.remittance.join(', ')})`,
    );
  let head: SettlementHead | null = null;
  return {
    kind,
    head: () => head,
    readRow(line: number, cells: readonly string[]): SettlementRow | string {
      const fields = fieldsOf(cells);
      if (typeof fields === 'string') return fields;
      // First, because the form of the console takes the amount as the total.
      const amounts = readAmounts(fields);
      if (typeof amounts === 'string') return amounts;
      const read = readHead(fields);
      if (typeof read === 'string') return read;
      head ??= read;
      if (JSON.stringify(head) !== JSON.stringify(read))
        return 'has another REFERENCE, SETTLED_ON or TOTAL than the first row';
      if (!isRinggit(fields.CURRENCY ?? '')) return 'CURRENCY is not MYR';
      if (kind === 'remittance' && amounts.feeSen > 0) return 'FEE is for payouts';
      const ids = kind === 'payout' ? idsOf(fields) : noIds;
      const account = kind === 'payout' ? gatewayAccountOf(fields) : merchantAccountOf(fields, merchants);
      if (account === null) return `${accountColumns[kind]} names no account of the journal`;
      return { line, ...ids, account, ...amounts };
    },
  };
}

function readAmounts({ AMOUNT = '', FEE = '' }: Fields): { amountSen: Sen; feeSen: Sen } | string {
  const amountSen = readAmount(AMOUNT, sumText);
  const feeSen = readAmount(FEE || '0', sumText);
  if (!amountSen) return 'AMOUNT must be an amount such as 120.50';
  return feeSen === null ? 'FEE must be an amount such as 120.50' : { amountSen, feeSen };
}

function readHead({ REFERENCE = '', SETTLED_ON = '', TOTAL = '' }: Fields): SettlementHead | string {
  if (!referencePattern.test(REFERENCE))
    return 'REFERENCE must have 1 to 64 letters, digits, spaces or . : / - and begin with a letter or digit';
  if (!boundsOfDay(SETTLED_ON)) return 'SETTLED_ON must be a day such as 2026-11-20';
  const totalSen = readAmount(TOTAL, sumText);
  if (totalSen === null) return 'TOTAL must be an amount such as 120.50';
  return { reference: REFERENCE, settledOn: SETTLED_ON, totalSen };
}

const noIds = { transactionId: '', gatewayTransactionId: '' };
const idsOf = ({ PAYMENT_TRANS_ID = '', TRANS_ID = '' }: Fields) => ({
  transactionId: TRANS_ID,
  gatewayTransactionId: PAYMENT_TRANS_ID,
});

/** A charge may leave its method out. */
function gatewayAccountOf(fields: Fields): string | null {
  const { gatewayTransactionId, transactionId } = idsOf(fields);
  const given = fields.PAYMENT_MODE || (gatewayTransactionId || transactionId ? 'unknown' : '');
  return methods.some((each) => each === given) ? `gateway:${given}` : null;
}

function merchantAccountOf(
  { MERCHANT_CODE: code = '' }: Fields,
  merchants: readonly string[],
): string | null {
  return merchants.includes(code) ? `merchant:${code}` : null;
}
