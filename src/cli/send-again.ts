/** `ledger send-again`: sends the callbacks and receipts of a payment or a period again. */
import { createExecute } from '../commands/execute.ts';
import { paymentDecider } from '../commands/payment.ts';
import { type DeliveryId, kindsOfMachines, requestDeliveries } from '../commands/send-again.ts';
import { transactionIdPattern } from '../commands/transaction-id.ts';
import { type DeliveryFilter, deliveriesOf, findDeliveries } from '../to-do/delivery-queries.ts';
import { type CommandOf, readChoice, readRange, UsageError } from './command.ts';
import { type Context, fail, staffCause, withStores } from './stores.ts';

type Options = Record<string, string | undefined>;

/** More than this is more likely a mistake in the range than intended. */
const maxInRange = 10_000;

export const command: CommandOf<'send-again'> = async (options, args) => {
  const find = args.length > 0 ? findOne(options, args) : findInRange(options);
  return await withStores('send-again', {}, async ({ db, eventStore, runtime }) => {
    const found = await find({ db, runtime });
    if (found.length > maxInRange)
      return fail(`The range has more than ${maxInRange} deliveries; none is sent again.`);
    const execute = createExecute({ eventStore, decider: paymentDecider });
    const { added, refused, reasons } = await requestDeliveries(
      { execute, cause: staffCause, runtime },
      found,
    );
    for (const reason of reasons) process.stderr.write(`${reason}.\n`);
    const dueAlready = found.length - added - refused;
    const already = dueAlready === 0 ? '' : `${dueAlready} due already, `;
    const again = `${added} ${added === 1 ? 'delivery is' : 'deliveries are'} due again`;
    const text = `${again}, ${already}${refused} refused.`;
    return { data: { asked: added, dueAlready, refused, reasons }, text, exitCode: refused > 0 ? 1 : 0 };
  });
};

type Find = (stores: Pick<Context, 'db' | 'runtime'>) => Promise<DeliveryId[]>;

function findOne(options: Options, [transactionId = '', delivery = '', ...more]: readonly string[]): Find {
  if (!transactionIdPattern.test(transactionId) || delivery === '' || more.length > 0)
    throw new UsageError('Name a transaction id and one delivery, such as callback-1, item-01 or email');
  if (Object.keys(options).some((name) => name !== 'json'))
    throw new UsageError('Name either one delivery or a range of time, not both');
  return async () => [{ transactionId, delivery }];
}

function findInRange({ state, kind, receiver, ...range }: Options): Find {
  const { from, to } = readRange(range);
  if (from === null) throw new UsageError('Name one delivery, or give a range of time with --from');
  const origin = receiver === undefined ? null : (URL.parse(receiver)?.origin ?? '');
  if (origin !== null && !origin.startsWith('http'))
    throw new UsageError('--receiver must be a URL such as https://agency.example.my');
  const filter: Omit<DeliveryFilter, 'called'> = {
    states: [readChoice('state', state, ['abandoned', 'delivered', 'due'])],
    kinds: kind === undefined ? kindsOfMachines : [readChoice('kind', kind, ['callback', 'item', 'email'])],
    receiver: origin,
  };
  return ({ db, runtime }) => {
    const called = { start: from, end: to ?? runtime.now().toISOString() };
    if (called.start >= called.end) throw new UsageError('--from must be before --to, or before now');
    return findDeliveries(deliveriesOf(db, { ...filter, called }), maxInRange + 1);
  };
}
