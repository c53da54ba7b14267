/** `ledger send-again`: staff have callbacks and receipts sent again, of one payment or of a range of time. */
import { createExecute } from '../commands/execute.ts';
import { paymentDecider } from '../commands/payment.ts';
import {
  type DeliveryId,
  kindsOfMachines,
  type Requested,
  requestDeliveries,
} from '../commands/send-again.ts';
import { transactionIdPattern } from '../commands/transaction-id.ts';
import type { DeliveryKind } from '../events/deliveries.ts';
import { connectEventStore } from '../eventstore/client.ts';
import { createLog } from '../kernel/log.ts';
import { systemRuntime } from '../kernel/system-runtime.ts';
import { connectPostgres } from '../postgres/pool.ts';
import { allDeliveries, createDeliveryList, type DeliveryFilter } from '../projections/deliveries/queries.ts';
import { loadRoleConfig } from '../roles/role-config.ts';
import { type Command, UsageError } from './command.ts';
import { staffCause } from './staff.ts';

type Options = Record<string, string | undefined>;

/** More than that at once is rather a mistake in the range than what was meant. */
const maxInRange = 10_000;

export const sendAgain: Command = {
  summary: 'sends callbacks and receipts again',
  usage:
    '<transaction_id> <delivery> | --from TIME [--to TIME] [--state abandoned|delivered] [--kind callback|item|email] [--receiver https://host]',
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    state: { type: 'string' },
    kind: { type: 'string' },
    receiver: { type: 'string' },
  },
  takesArguments: true,
  async run(options, args) {
    const choose = args.length > 0 ? chooseOne(options, args) : chooseRange(options);
    const config = loadRoleConfig();
    const log = createLog('warn', 'send-again');
    const db = connectPostgres({ url: config.databaseUrl, log });
    const eventStore = connectEventStore({ url: config.esdbUrl, log, runtime: systemRuntime });
    const execute = createExecute({ eventStore, decider: paymentDecider });
    try {
      const chosen = await choose(db);
      if (chosen.length > maxInRange) {
        process.stderr.write(`The range holds more than ${maxInRange} deliveries; nothing was asked for.\n`);
        return 1;
      }
      return report(await requestDeliveries({ execute, cause: staffCause, runtime: systemRuntime }, chosen));
    } finally {
      await Promise.all([eventStore.close(), db.destroy()]);
    }
  },
};

/** Prints what came of it and returns the exit code: 1 when any was refused. */
function report({ asked, refused, reasons }: Requested): number {
  process.stdout.write(
    `${asked} ${asked === 1 ? 'delivery is' : 'deliveries are'} due again, ${refused} refused.\n`,
  );
  for (const reason of reasons) process.stderr.write(`${reason}.\n`);
  return refused > 0 ? 1 : 0;
}

type Choose = (db: ReturnType<typeof connectPostgres>) => Promise<DeliveryId[]>;

function chooseOne(
  options: Options,
  [transactionId = '', delivery = '', ...more]: readonly string[],
): Choose {
  if (!transactionIdPattern.test(transactionId) || delivery === '' || more.length > 0)
    throw new UsageError('Which delivery of which payment? Such as callback-1, item-01 or email');
  if (Object.keys(options).length > 0) throw new UsageError('Either one delivery or a range');
  return async () => [{ transactionId, delivery }];
}

function chooseRange({ from, to, state = 'abandoned', kind, receiver }: Options): Choose {
  if (from === undefined) throw new UsageError('Which delivery, or from when on?');
  if (state !== 'abandoned' && state !== 'delivered')
    throw new UsageError('--state is abandoned or delivered');
  const kinds = readKinds(kind);
  const called = { start: readTime(from), end: to === undefined ? new Date().toISOString() : readTime(to) };
  const filter: DeliveryFilter = {
    ...allDeliveries,
    states: [state],
    kinds,
    receiver: receiver ?? null,
    called,
  };
  return (db) => createDeliveryList(db).find(filter, maxInRange + 1);
}

function readKinds(kind: string | undefined): readonly DeliveryKind[] {
  if (kind === undefined) return kindsOfMachines;
  if (kind === 'callback' || kind === 'item' || kind === 'email') return [kind];
  throw new UsageError('--kind is callback, item or email');
}

/** With an offset, so that nobody has to guess whose clock is meant. */
function readTime(text: string): string {
  const isExact = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const time = new Date(isExact ? text : Number.NaN);
  if (Number.isNaN(time.getTime())) throw new UsageError('A time reads 2026-11-20T09:00:00+08:00');
  return time.toISOString();
}
