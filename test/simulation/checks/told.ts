/** Checks at the end that what staff were told holds. */
import type { Report } from '../violations.ts';
import type { Staff } from '../world/staff.ts';
import type { LogCheck } from './log.ts';

export function checkTold(
  { confirmed, settlements, verdicts }: Pick<Staff, 'confirmed' | 'settlements' | 'verdicts'>,
  log: LogCheck,
  report: Report,
): void {
  for (const { transactionId: id, action } of confirmed()) {
    const state = log.payments.get(id)?.state;
    if (!state || state.status === 'none') continue;
    if (action.kind === 'refund') {
      const { amountSen, gatewayReference } = action;
      const refunds = (state.adjustments ?? []).filter(
        (each) => each.kind === 'refunded' && each.gatewayReference === gatewayReference,
      );
      if (refunds.length !== 1 || refunds[0]?.amountSen !== amountSen)
        report('acknowledged-lost', id, `Refund ${gatewayReference} is recorded ${refunds.length} times`);
      continue;
    }
    const { resolution, resultNo } = action;
    const now = state.results[resultNo - 1]?.resolved?.resolution ?? 'open';
    if (now !== resolution)
      report('acknowledged-lost', id, `Result ${resultNo} is ${now}, and staff were told ${resolution}`);
  }
  for (const {
    transactionId: id,
    orderNo,
    outcome,
    amountSen,
    gatewayTransactionId,
  } of verdicts.confirmed()) {
    const state = log.payments.get(id)?.state;
    if (!state || state.status === 'none') continue;
    const holds = state.results.some(
      (each) =>
        each.sellerOrderNo === orderNo &&
        each.outcome === outcome &&
        (amountSen === null || each.amountSen === amountSen) &&
        ['', each.gatewayTransactionId].includes(gatewayTransactionId),
    );
    if (!holds)
      report('acknowledged-lost', id, `Staff were told that ${orderNo} ${outcome} ${gatewayTransactionId}`);
  }
  for (const { settlement, sha256 } of settlements.told()) {
    const { recorded, reversed } = log.settlements.find(settlement);
    const now = reversed ? null : recorded?.file.sha256;
    if (now !== sha256)
      report(
        'acknowledged-lost',
        settlement.reference,
        `Staff were told that it is ${sha256 === null ? 'reversed' : 'recorded'}`,
      );
  }
}
