/** `ledger proof`: the events of a payment with proofs that they are in the log, for anybody to verify. */
import { Readable } from 'node:stream';
import { createLines } from '../audit/export/lines.ts';
import { proveEvents } from '../audit/seals/leaves.ts';
import { paymentStream } from '../events/payment.ts';
import { type CommandOf, readArgument } from './command.ts';
import { findHistory, needs } from './history.ts';
import { fail, withStores } from './stores.ts';

export const command: CommandOf<'proof'> = async ({ merchant }, args, write) => {
  const named = readArgument(args, "Name one payment, by its id or by the merchant's reference");
  return await withStores('proof', needs, async (context) => {
    const { eventStore, runtime } = context;
    const { transactionId, merchantCode, entries } = await findHistory(named, merchant, context);
    const events = await eventStore.load(paymentStream(transactionId));
    const proofs = await proveEvents(eventStore, events);
    const from = entries[0]?.at;
    if (!from) return fail('The payment cannot be read: run `ledger verify`.');
    const to = new Date(Date.parse(from) + 1).toISOString();
    const lines = createLines();
    const exportedAt = runtime.now().toISOString();
    const pieces = [
      lines.head({ version: 2, from, to, merchant: merchantCode, exportedAt }),
      lines.payment(events, { proofs }),
      lines.end(),
    ];
    await write(Readable.from(pieces));
    const missing = proofs.filter((each) => each === null).length;
    return missing === 0
      ? 0
      : fail(`${missing} of its events are not sealed yet, which takes ten minutes at most.`);
  });
};
