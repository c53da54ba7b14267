/** The attempts of a payment whose outcome nobody knew at the end of their schedule: staff settle them by a verdict. */
import { addSen, type Sen } from '../common/money.ts';
import { outstandingSen } from './adjustments.ts';
import type { RequestedPayment } from './payment.ts';
import type { Outcome } from './payment-result.ts';
import type { RecordedResult } from './recorded-result.ts';
import { openAttempts } from './requery-schedule.ts';

type FinalResult = RecordedResult & { outcome: Exclude<Outcome, 'pending'> };

/** In order, settled or not. */
export function unknownOutcomesOf(payment: RequestedPayment) {
  const { attempts, results, unknownOutcomes = [] } = payment;
  const open = new Set(openAttempts(payment).map(({ sellerOrderNo }) => sellerOrderNo));
  return unknownOutcomes.map(({ at, orderNo }, index) => {
    const feeSen = attempts.find(({ sellerOrderNo }) => sellerOrderNo === orderNo)?.chargeSen ?? (0 as Sen);
    const last = results.findLast(
      (result): result is FinalResult => result.sellerOrderNo === orderNo && result.outcome !== 'pending',
    );
    return {
      /** Counted from 1, in the order in which they became exceptions. */
      no: index + 1,
      orderNo,
      at,
      /** What the attempt would have charged. */
      amountSen: addSen(outstandingSen(payment), feeSen),
      /** The result that became known later, whoever reported it; null while nobody knows. */
      settled: open.has(orderNo) ? null : (last ?? null),
    };
  });
}
