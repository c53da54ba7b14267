/** The exports of the gateway and the registry about one payment, and whether the ledger finds in them exactly what differs. */
import type { ExportSource } from '../../../src/events/reconciliation.ts';
import { compareRecords } from '../../../src/reconciliation/compare.ts';
import type { ExportRecord } from '../../../src/reconciliation/export-format.ts';
import { amountSen, orderNo } from '../../support/payments.ts';
import { type BankRecord, count, isCharge, type Life, whereabouts } from './life.ts';

/** What is true of all transactions; some charges are listed twice, the second time with another time. */
function exportOf({ bank, random, state }: Life, source: ExportSource): ExportRecord[] {
  const { transactionId } = state.request;
  const common = { transactionId, merchantCode: '', currency: '' };
  return bank
    .flatMap((each) => (isCharge(each) && random.chance(0.1) ? [each, { ...each, at: later(each) }] : [each]))
    .map(({ at, attempt, id, sen: taken, takenBackAt }, index) => ({
      ...common,
      line: index + 2,
      recordId: id,
      gatewayTransactionId: id,
      sellerOrderNo: source === 'gateway' ? orderNo(attempt) : '',
      status: taken === null || takenBackAt ? 'failed' : 'succeeded',
      amountSen: taken ?? amountSen,
      paidAt: takenBackAt ?? at,
    }));
}

const later = ({ at }: BankRecord) => new Date(Date.parse(at) + 1_000).toISOString();

/** Throws if a difference is not found, or something is said to differ that does not. */
export function checkExport(life: Life, source: ExportSource): void {
  const { bank, state } = life;
  const verdicts = compareRecords(exportOf(life, source), state, source);
  for (const charge of bank.filter(isCharge)) {
    const where = whereabouts(state, charge);
    const classes = verdicts
      .filter(({ gatewayTransactionId }) => gatewayTransactionId === charge.id)
      .map((each) => each.class)
      .filter((each) => each !== 'repeated');
    const isInBooks = where !== 'not known' && where !== 'taken back';
    // That an attempt failed of which the books have nothing may be news where nothing has paid.
    if (where === 'taken back' && charge.takenBackAt && state.status !== 'succeeded') continue;
    const isSame = isInBooks === (charge.takenBackAt === null);
    if (!isSame) count(life, 'charges found by reconciliation');
    if (classes.length !== 1 || (classes[0] === 'matched') !== isSame)
      throw new Error(
        `The export of the ${source} shows ${JSON.stringify(charge)}, which is ${where}: ${classes}`,
      );
  }
}
