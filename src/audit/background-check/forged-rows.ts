/** Rows with a wrong MAC when they were read: the background check compares their streams next, and staff see it. */
import type { Log } from '@ledger/kernel/log.ts';
import { codeOf } from '@ledger/kernel/reason-of.ts';
import { emptyIfUndefined } from '@ledger/postgres/error-codes.ts';
import type { Knex } from 'knex';

/** Never rejects: the page that found it shows what the stream says. */
export async function reportForgedRow(stream: string, { db, log }: { db: Knex; log: Log }): Promise<void> {
  // The log does not name the stream, because the id in it opens a receipt.
  log.error({}, 'a row was changed in PostgreSQL; its stream is shown instead');
  try {
    await db.raw('insert into forged_rows (stream) values (?) on conflict do nothing', [stream]);
  } catch (error) {
    log.warn({ reason: codeOf(error) }, 'a changed row could not be reported');
  }
}

export async function forgedRows(db: Knex): Promise<string[]> {
  const query = db.raw<{ rows: { stream: string }[] }>('select stream from forged_rows limit 1000');
  return (await emptyIfUndefined(query)).map(({ stream }) => stream);
}

export async function forgetForgedRows(db: Knex, streams: readonly string[]): Promise<void> {
  if (streams.length > 0) await db.raw('delete from forged_rows where stream = any(?)', [[...streams]]);
}
