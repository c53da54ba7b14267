/** At the end: that the daily statements of agencies have each paid payment once, on the day on which the bank charged it. */
import type { Knex } from 'knex';
import { collectedReceipts } from '../../../src/projections/journal/collection-queries.ts';
import { day } from '../fault-kinds.ts';
import { merchants } from '../program/configuration.ts';
import type { Report } from '../violations.ts';
import type { Bank } from '../world/bank.ts';
import { malaysianTime } from '../world/gateway.ts';
import type { LogCheck } from './log.ts';

const dayOf = (atMs: number) => malaysianTime(atMs).slice(0, 10);

/** Rejects if the statements cannot be read. */
export async function checkCollected(
  db: Knex,
  {
    bank,
    log,
    startMs,
    nowMs,
    report,
  }: { bank: Bank; log: LogCheck; startMs: number; nowMs: number; report: Report },
): Promise<void> {
  const found = new Map<string, { on: string; sen: number }[]>();
  const days: string[] = [];
  for (let atMs = startMs - day; atMs < nowMs + 2 * day; atMs += day) days.push(dayOf(atMs));
  for (const merchantCode of merchants)
    for (const on of days)
      for await (const receipt of collectedReceipts(db, { merchantCode, day: on, asOf: new Date(nowMs) })) {
        const { amountSen, chargeSen, transactionId: id } = receipt;
        found.set(id, [...(found.get(id) ?? []), { on, sen: amountSen + chargeSen }]);
      }
  for (const [id, { state, isUnreadable }] of log.payments) {
    if (state.status === 'none' || isUnreadable || bank.misreported.has(id)) continue;
    const times = state.receipt ? 1 : 0;
    const listed = found.get(id) ?? [];
    if (listed.length !== times)
      report('collected-wrong', id, `Statements have it ${listed.length} times, not ${times} times`);
    // Staff give no time: what they say counts on the day on which they say it.
    if (state.results.some(({ source }) => source === 'staff')) continue;
    const charged = bank.chargesOf(id).map(({ amountSen, atMs }) => `${amountSen} sen on ${dayOf(atMs)}`);
    for (const { on, sen } of listed)
      if (!charged.includes(`${sen} sen on ${on}`))
        report('collected-wrong', id, `${sen} sen on ${on}; the bank has charged ${charged.join(', ')}`);
  }
}
