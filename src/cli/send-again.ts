/** `ledger send-again`: staff have callbacks and receipts sent again, of one payment or of a range of time. */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { Refused } from '../commands/decider.ts';
import { createExecute } from '../commands/execute.ts';
import { paymentDecider } from '../commands/payment.ts';
import { transactionIdPattern } from '../commands/transaction-id.ts';
import { paymentStream } from '../events/payment.ts';
import { readPaymentEvent } from '../events/recorded.ts';
import { connectEventStore } from '../eventstore/client.ts';
import { createLog } from '../log.ts';
import { connectDatabase } from '../projections/database.ts';
import { findDeliveries, type SettledDelivery } from '../projections/deliveries-queries.ts';
import { type Command, UsageError } from './command.ts';
import { loadRoleConfig } from './role-config.ts';

type Options = Record<string, string | undefined>;

export const sendAgain: Command = {
  summary: 'sends callbacks and receipts again',
  usage:
    '<transaction_id> <delivery> | --from TIME [--to TIME] [--state abandoned|delivered] [--receiver https://host]',
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    state: { type: 'string' },
    receiver: { type: 'string' },
  },
  takesArguments: true,
  async run(options, args) {
    const choose = args.length > 0 ? chooseOne(options, args) : chooseRange(options);
    const config = loadRoleConfig();
    const log = createLog('warn', 'send-again');
    const db = connectDatabase({ url: config.databaseUrl, log });
    const eventStore = connectEventStore({ url: config.esdbUrl, log });
    const execute = createExecute({ eventStore, decider: paymentDecider, read: readPaymentEvent });
    try {
      let asked = 0;
      for (const { transactionId, delivery } of await choose(db)) {
        const commandId = randomUUID();
        const { events } = await execute(
          paymentStream(transactionId),
          { type: 'RequestDelivery', at: new Date().toISOString(), delivery },
          {
            commandId,
            correlationId: commandId,
            causationId: commandId,
            actor: `staff:${userInfo().username}`,
          },
        );
        asked += events.length;
      }
      process.stdout.write(`${asked} ${asked === 1 ? 'delivery is' : 'deliveries are'} due again.\n`);
      return 0;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      process.stderr.write(`${error.message}.\n`);
      return 1;
    } finally {
      await Promise.all([eventStore.close(), db.destroy()]);
    }
  },
};

type Choose = (db: ReturnType<typeof connectDatabase>) => Promise<SettledDelivery[]>;

function chooseOne(
  options: Options,
  [transactionId = '', delivery = '', ...more]: readonly string[],
): Choose {
  if (!transactionIdPattern.test(transactionId) || delivery === '' || more.length > 0)
    throw new UsageError('Which delivery of which payment? Such as callback-1, item-01 or email');
  if (Object.keys(options).length > 0) throw new UsageError('Either one delivery or a range');
  return async () => [{ transactionId, delivery }];
}

function chooseRange({ from, to, state = 'abandoned', receiver }: Options): Choose {
  if (from === undefined) throw new UsageError('Which delivery, or from when on?');
  if (state !== 'abandoned' && state !== 'delivered')
    throw new UsageError('--state is abandoned or delivered');
  const range = { from: readTime(from), to: to === undefined ? new Date() : readTime(to) };
  return (db) => findDeliveries(db, { state, receiver, ...range });
}

/** With an offset, so that nobody has to guess whose clock is meant. */
function readTime(text: string): Date {
  const isExact = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const time = new Date(isExact ? text : Number.NaN);
  if (Number.isNaN(time.getTime())) throw new UsageError('A time reads 2026-11-20T09:00:00+08:00');
  return time;
}
