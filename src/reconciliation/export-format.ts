/** The two exports that can be imported, recognised by their header, and how a row of each is read. */
import { readGatewayResult } from '../clients/gateway/read-result.ts';
import { readRegistryStatus } from '../clients/transaction-registry/answer.ts';
import { oneLine } from '../clients/wire-fields.ts';
import { readGatewayTime } from '../common/malaysian-time.ts';
import { readAmount, type Sen } from '../common/money.ts';
import type { ExportSource, TheirStatus } from '../events/reconciliation.ts';

/** The part of a row that is compared, without names of buyers and banks. Texts are `''` if the row has none. */
export type ExportRecord = {
  line: number;
  transactionId: string;
  /** Theirs: the registry's id; the gateway's transaction id, else its order number. */
  recordId: string;
  gatewayTransactionId: string;
  sellerOrderNo: string;
  merchantCode: string;
  status: TheirStatus;
  amountSen: Sen | null;
  currency: string;
  paidAt: string | null;
};

/** The file as a whole cannot be imported. The message has none of its content. */
export class UnreadableExport extends Error {
  override name = 'UnreadableExport';
}

export type Fields = Readonly<Record<string, string>>;

/** Columns that an export must have, in any order and case; it may have others. */
const required = {
  registry: ['ID', 'MERCHANT_TRANS_ID', 'EPS_STATUS', 'GATEWAY_ID1', 'AMOUNT', 'PAYMENT_DATETIME'],
  gateway: ['TRANS_ID', 'PAYMENT_TRANS_ID', 'STATUS', 'AMOUNT', 'PAYMENT_DATETIME'],
} as const satisfies Record<ExportSource, readonly string[]>;

const idColumns = {
  registry: ['ID', 'MERCHANT_TRANS_ID', 'GATEWAY_ID1'],
  gateway: ['TRANS_ID', 'PAYMENT_TRANS_ID', 'MERCHANT_ORDER_NO', 'MERCHANT_CODE'],
} as const satisfies Record<ExportSource, readonly string[]>;

const idNames = Object.values(idColumns).flat();
const idPattern = /^[\w.:/-]{0,64}$/;
/** A long number that a spreadsheet has rounded: its last digits are lost. */
const roundedPattern = /^\d(\.\d+)?E\+\d+$/i;
/** Empty, or before 2020, which is how some exports write that nothing was paid. */
const noTime = /^((?:[01]\d\d|20[01])\d(-|\d{10}$)|$)/;
const maxCellLength = 4_096;

/** The columns of a header, and how a row becomes fields of their names. Throws UnreadableExport. */
export function columnsOf(header: readonly string[]) {
  const names = header.map((cell) => cell.trim().toUpperCase());
  const named = names.filter((name) => name !== '');
  if (new Set(named).size < named.length) throw new UnreadableExport('Two columns have the same name');
  return {
    names,
    /** The fields of a row, or what is wrong with it. */
    fieldsOf(cells: readonly string[]): Fields | string {
      if (cells.length !== names.length) return `has ${cells.length} cells, the header has ${names.length}`;
      if (cells.some((cell) => cell.length > maxCellLength)) return 'has a cell that is too long';
      const fields = Object.fromEntries(names.map((name, index) => [name, (cells[index] ?? '').trim()]));
      const rounded = idNames.find((name) => roundedPattern.test(fields[name] ?? ''));
      return rounded ? `${rounded} was rounded by a spreadsheet` : fields;
    },
  };
}

/** The code of a merchant that an export names by its code or its id. */
export type MerchantCodeOf = (named: string) => string;

/** Throws UnreadableExport for any other header. */
export function recogniseExport(header: readonly string[], merchantCodeOf: MerchantCodeOf) {
  const { fieldsOf, names } = columnsOf(header);
  const source = (['registry', 'gateway'] as const).find((each) =>
    required[each].every((name) => names.includes(name)),
  );
  if (!source)
    throw new UnreadableExport(
      `The first row is neither the registry's header (${required.registry.join(', ').toLowerCase()}) nor the gateway's (${required.gateway.join(', ')})`,
    );
  return {
    source,
    /** The record of a row, or what is wrong with it: that names columns and never holds a value. */
    readRow(line: number, cells: readonly string[]): ExportRecord | string {
      const fields = fieldsOf(cells);
      if (typeof fields === 'string') return fields;
      const read = source === 'registry' ? readRegistryRow : readGatewayRow;
      const record = read(line, fields, merchantCodeOf);
      return typeof record === 'string' ? record : (faultOf(source, fields, record) ?? record);
    },
  };
}

function readRegistryRow(line: number, fields: Fields): ExportRecord | string {
  const text = (name: string) => oneLine(fields[name] ?? '');
  const status = readRegistryStatus(text('EPS_STATUS'));
  if (!status) return 'eps_status is not a known status';
  return {
    line,
    transactionId: text('MERCHANT_TRANS_ID'),
    recordId: text('ID'),
    gatewayTransactionId: text('GATEWAY_ID1'),
    sellerOrderNo: '',
    merchantCode: '',
    status,
    amountSen: readAmount(text('AMOUNT')),
    currency: '',
    paidAt: readGatewayTime(text('PAYMENT_DATETIME')),
  };
}

function readGatewayRow(line: number, fields: Fields, merchantCodeOf: MerchantCodeOf): ExportRecord | string {
  const read = readGatewayResult(fields);
  if (!read) return 'STATUS is not 0, 1, 2 or 3';
  const { outcome, gatewayTransactionId, sellerOrderNo, amountSen, currency, paidAt } = read.result;
  return {
    line,
    transactionId: read.transactionId,
    recordId: gatewayTransactionId || sellerOrderNo,
    gatewayTransactionId,
    sellerOrderNo,
    merchantCode: merchantCodeOf(read.merchantCode),
    status: outcome,
    amountSen,
    currency,
    paidAt,
  };
}

/** What a row says must be readable, and a success must have an amount. */
function faultOf(source: ExportSource, fields: Fields, record: ExportRecord): string | null {
  const wrongId = idColumns[source].find((name) => !idPattern.test(fields[name] ?? ''));
  if (wrongId) return `${wrongId} is not an id`;
  if (record.transactionId === '' && record.recordId === '') return 'names no transaction';
  if (record.amountSen === null && (record.status === 'succeeded' || fields.AMOUNT !== ''))
    return 'AMOUNT must be an amount such as 120.50';
  if (record.paidAt === null && !noTime.test(fields.PAYMENT_DATETIME ?? ''))
    return 'PAYMENT_DATETIME is not a time such as 2026-11-20 09:00:00';
  return /^[A-Za-z]{0,3}$/.test(record.currency) ? null : 'CURRENCY is not a currency such as MYR';
}
