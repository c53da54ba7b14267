/** `ledger history`: what happened to a payment, event by event, and whether anybody changed it since. */
import { type FoundHistory, findHistories } from '../audit/history/find.ts';
import { entriesUntil, readUntil } from '../audit/history/history.ts';
import { historyText } from '../audit/history/text.ts';
import { Refused } from '../commands/decider.ts';
import type { Config } from '../config/config.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { type Command, UsageError } from './command.ts';
import { asStaff } from './staff.ts';

const options = {
  at: { type: 'string' },
  revision: { type: 'string' },
  merchant: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export const history: Command<typeof options> = {
  summary: 'what happened to a payment, its state then or now, and whether its events are whole',
  usage: '<transaction_id | reference> [--at TIME | --revision N] [--merchant CODE] [--json]',
  options,
  takesArguments: true,
  async run({ at, revision, merchant, json }, [named = '', ...more]) {
    if (named === '' || more.length > 0)
      throw new UsageError("Name one payment, by its id or by the merchant's reference");
    let isWhole = false;
    const code = await asStaff(async (eventStore, config) => {
      const until = readUntil({ at, revision });
      const found = await findOne(named, merchant, eventStore, config);
      isWhole = found.verdict.kind === 'whole';
      if (!json) return historyText(found, until);
      return JSON.stringify({ ...found, entries: entriesUntil(found, until) }, null, 2);
    });
    return isWhole ? code : 1;
  },
};

/** Throws Refused when there is none, and when there are several. */
async function findOne(
  named: string,
  merchant: string | undefined,
  eventStore: EventStore,
  { merchants, transactionIdKey }: Config,
): Promise<FoundHistory> {
  const merchantCodes = merchant === undefined ? [...merchants.keys()] : [merchant];
  const all = await findHistories(named, { eventStore, transactionIdKey, merchantCodes });
  const meant = all.filter(({ merchantCode }) => merchant === undefined || merchantCode === merchant);
  const [first, ...others] = meant;
  if (!first) throw new Refused('unknown_payment', 'There is no such payment');
  if (others.length === 0) return first;
  const list = meant.map(({ transactionId, merchantCode }) => `  ${transactionId} of ${merchantCode}`);
  throw new Refused(
    'unknown_payment',
    `Several payments have this reference:\n${list.join('\n')}\nSay which by --merchant or by the id`,
  );
}
