/** What a settlement is compared with in the books. Rejects within a few seconds when Postgres is down. */
import { givenRows, indexable } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import { boundsOfDay } from '../../common/malaysian-time.ts';
import type { Sen } from '../../common/money.ts';
import { sqlOf } from '../../common/sql.ts';
import { chargeNameOf, type SettlementKind } from '../../events/settlement.ts';
import { numberIdOf, sharedNumberIdOf } from '../../events/shared-number.ts';

/** The reference of another settlement of the day with the same total that is not reversed; null if there is none. */
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
 * By line: the account of the gateway in which a charge of this amount was booked, on which day, and its `chargeNameOf`. A
 * charge that is named more often than it was booked is found as often as it was booked. `id` is that of the settlement.
 */
export async function findCharges(db: Knex, id: string, charges: readonly NamedCharge[]) {
  const given = charges.map(({ amountSen, gatewayTransactionId, line, transactionId }) => ({
    line,
    own: indexable(transactionId),
    number_id: gatewayTransactionId && numberIdOf(numberOf(gatewayTransactionId)),
    shared_id: gatewayTransactionId && sharedNumberIdOf(numberOf(gatewayTransactionId), transactionId),
    amount_sen: amountSen,
  }));
  const { rows } = await db
    .raw<{ rows: { line: number; account: string; openedOn: string; charge: string }[] }>(chargesOfLines, [
      id,
      JSON.stringify(given),
    ])
    .timeout(30_000);
  return new Map(rows.map(({ line, ...charge }) => [line, charge]));
}

const numberOf = (number: string) =>
  ({ kind: 'sharedGatewayTransaction', merchantCode: '', number: indexable(number) }) as const;
const columns = { line: 'integer', own: 'text', number_id: 'text', shared_id: 'text', amount_sen: 'bigint' };
const chargesOfLines = sqlOf('settled-charges', { given: givenRows(columns) });

/** The `chargeNameOf` of a charge by what its line says, for one that the books do not have; `''` of a sum. */
export function givenName({ gatewayTransactionId, transactionId }: NamedCharge): string {
  const key = gatewayTransactionId ? numberIdOf(numberOf(gatewayTransactionId)) : transactionId;
  return key && chargeNameOf(key);
}

/**
 * By line: the reference of another payout that has the charge, also if the books did not have it then, and is not
 * reversed. `id` is that of the settlement.
 */
export async function findPaidOut(
  db: Knex,
  id: string,
  rows: readonly (NamedCharge & { charge: string })[],
): Promise<Map<number, string>> {
  const given = rows.flatMap((row) =>
    [row.charge, givenName(row)].map((charge) => ({ line: row.line, charge })),
  );
  const found = await db
    .raw<{ rows: { line: number; reference: string }[] }>(paidOut, [JSON.stringify(given), id])
    .timeout(30_000);
  return new Map(found.rows.map(({ line, reference }) => [line, reference]));
}

const paidOut = sqlOf('paid-out', { given: givenRows({ line: 'integer', charge: 'text' }) });

/** The first day on which money came to one of the accounts, or to any if none came to these; null in empty books. */
export async function firstMoney(db: Knex, accounts: readonly string[]): Promise<string | null> {
  const given = { accounts: accounts.map(indexable) };
  const { rows } = await db
    .raw<{ rows: { day: string | null }[] }>(sqlOf('first-money'), given)
    .timeout(5_000);
  return rows[0]?.day ?? null;
}
