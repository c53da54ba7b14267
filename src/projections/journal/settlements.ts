/** What a settlement is compared with in the books. Rejects within a few seconds when Postgres is down. */
import { givenRows, indexable } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import { boundsOfDay } from '../../common/malaysian-time.ts';
import type { Sen } from '../../common/money.ts';
import { sqlOf } from '../../common/sql.ts';
import type { SettlementKind } from '../../events/settlement.ts';
import { numberIdOf } from '../../events/shared-number.ts';

/** The reference of another one of the same day with the same total that is not reversed; null if there is none. */
export async function findTwin(
  db: Knex,
  { id, kind, settledOn, totalSen }: { id: string; kind: SettlementKind; settledOn: string; totalSen: Sen },
): Promise<string | null> {
  const given = { id, kind, totalSen, start: boundsOfDay(settledOn)?.start ?? null };
  const query = db.raw<{ rows: { reference: string }[] }>(sqlOf('same-settlement'), given);
  const { rows } = await query.timeout(5_000);
  return rows[0]?.reference ?? null;
}

export type NamedCharge = {
  line: number;
  /** One of the two ids may be `''`. */
  transactionId: string;
  gatewayTransactionId: string;
  amountSen: Sen;
};

/**
 * By line: the account of the gateway in which a charge of this amount was booked, and on which day. A charge that is
 * named more often than it was booked is found as often as it was booked.
 */
export async function findCharges(db: Knex, charges: readonly NamedCharge[]) {
  const given = charges.map(({ amountSen, gatewayTransactionId: number, line, transactionId }) => ({
    line,
    transaction_id: indexable(transactionId),
    number_id:
      number && numberIdOf({ kind: 'sharedGatewayTransaction', merchantCode: '', number: indexable(number) }),
    amount_sen: amountSen,
  }));
  const { rows } = await db
    .raw<{ rows: { line: number; account: string; openedOn: string }[] }>(chargesOfLines, [
      JSON.stringify(given),
    ])
    .timeout(30_000);
  return new Map(rows.map(({ line, ...charge }) => [line, charge]));
}

const columns = { line: 'integer', transaction_id: 'text', number_id: 'text', amount_sen: 'bigint' };
const chargesOfLines = sqlOf('settled-charges', { given: givenRows(columns) });
