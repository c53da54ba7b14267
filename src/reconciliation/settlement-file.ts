/** The files of payouts and remittances, recognised by their header, and how a row of each is read. */
import type { SettlementKind, SettlementPart } from '../events/settlement.ts';
import { boundsOfDay } from '../kernel/malaysian-time.ts';
import { readAmount, type Sen } from '../kernel/money.ts';
import { paymentModes } from '../kernel/payment-modes.ts';
import { columnsOf, type ExportRecord, type Fields, readRecord, UnreadableExport } from './export-format.ts';

/** What all rows of a file have in common. */
export type SettlementHead = { reference: string; settledOn: string; totalSen: Sen };

const common = ['REFERENCE', 'SETTLED_ON', 'TOTAL'];
/** A payout may also have FEE, PAYMENT_MODE and MERCHANT_CODE. */
const required = {
  payout: [...common, 'TRANS_ID', 'PAYMENT_TRANS_ID', 'AMOUNT'],
  remittance: [...common, 'MERCHANT_CODE', 'AMOUNT'],
} as const satisfies Record<SettlementKind, readonly string[]>;

/** Nothing that a spreadsheet takes for a formula. */
const referencePattern = /^\w[\w.:/ -]{0,63}$/;

/** The part of a record that a remittance does not have. */
const noCharge = {
  transactionId: '',
  recordId: '',
  gatewayTransactionId: '',
  sellerOrderNo: '',
  status: 'succeeded',
  currency: '',
  paidAt: null,
  mode: '',
  feeSen: 0 as Sen,
} as const;

/** The head of a file or of a form, or what is wrong with it. */
export function readHead(reference = '', settledOn = '', total = ''): SettlementHead | string {
  if (!referencePattern.test(reference))
    return 'REFERENCE must have 1 to 64 letters, digits, spaces or . : / - and begin with a letter or digit';
  if (!boundsOfDay(settledOn)) return 'SETTLED_ON is not a day such as 2026-11-20';
  const totalSen = readAmount(total);
  return totalSen === null ? 'TOTAL is not an amount such as 120.50' : { reference, settledOn, totalSen };
}

/** One amount that staff enter, for an account of the journal. `merchants` are the codes of those that have one. */
export function readPart(
  account: string,
  amount: string,
  merchants: readonly string[],
): SettlementPart | string {
  const [kind = '', ...rest] = account.split(':');
  const name = rest.join(':');
  const isKnown =
    kind === 'merchant'
      ? merchants.includes(name)
      : ['gateway', 'fees'].includes(kind) && [...paymentModes, 'unknown'].some((mode) => mode === name);
  if (!isKnown) return 'names an account that the journal does not have';
  const amountSen = readAmount(amount);
  return amountSen ? { account, openedOn: null, amountSen } : 'AMOUNT is not an amount such as 120.50';
}

/** `merchants` likewise. Throws UnreadableExport for any other header. */
export function recogniseSettlement(header: readonly string[], merchants: readonly string[]) {
  const { fieldsOf, names } = columnsOf(header);
  const kind = (['payout', 'remittance'] as const).find((each) =>
    required[each].every((name) => names.includes(name)),
  );
  if (!kind)
    throw new UnreadableExport(
      `The first row is neither the header of a payout (${required.payout.join(', ')}) nor of remittances (${required.remittance.join(', ')})`,
    );
  let head: SettlementHead | null = null;

  function readRow(line: number, cells: readonly string[]): ExportRecord | string {
    const fields = fieldsOf(cells);
    if (typeof fields === 'string') return fields;
    const read = readHead(fields.REFERENCE, fields.SETTLED_ON, fields.TOTAL);
    if (typeof read === 'string') return read;
    head ??= read;
    if (JSON.stringify(head) !== JSON.stringify(read))
      return 'has another REFERENCE, SETTLED_ON or TOTAL than the first row';
    return kind === 'payout' ? readPayoutRow(line, fields) : readRemittanceRow(line, fields);
  }

  function readPayoutRow(line: number, fields: Fields): ExportRecord | string {
    const record = readRecord('payout', line, { ...fields, STATUS: '1', PAYMENT_DATETIME: '' });
    const feeSen = readAmount(fields.FEE || '0');
    if (typeof record === 'string') return record;
    if (feeSen === null) return 'FEE is not an amount such as 0.50';
    return record.amountSen ? { ...record, feeSen } : 'AMOUNT is zero';
  }

  function readRemittanceRow(line: number, fields: Fields): ExportRecord | string {
    const { AMOUNT: amount = '', MERCHANT_CODE: code = '' } = fields;
    const part = readPart(`merchant:${code}`, amount, merchants);
    if (typeof part === 'string') return part;
    return { ...noCharge, line, merchantCode: code, amountSen: part.amountSen };
  }

  return { kind, readRow, head: () => head };
}
