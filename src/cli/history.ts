/** `ledger history`: what happened to a payment, event by event, and whether anybody changed it since. */
import { findHistory } from '../audit/history/find.ts';
import { entriesUntil, readUntil } from '../audit/history/history.ts';
import { historyText } from '../audit/history/text.ts';
import { type Command, flag, text } from './command.ts';
import { readArgument } from './options.ts';
import { print, withEventStore } from './stores.ts';

const options = { at: text, revision: text, merchant: text, json: flag } as const;

export const history: Command<typeof options> = {
  summary: 'what happened to a payment, its state then or now, and whether its events are unchanged',
  usage: '<transaction_id | reference> [--at TIME | --revision N] [--merchant CODE] [--json]',
  options,
  takesArguments: true,
  async run({ at, revision, merchant, json }, args) {
    const named = readArgument(args, "Name one payment, by its id or by the merchant's reference");
    return await withEventStore('history', async ({ config, eventStore }) => {
      const until = readUntil({ at, revision });
      const found = await findHistory(named, merchant, { eventStore, ...config });
      print(
        json
          ? JSON.stringify({ ...found, entries: entriesUntil(found, until) }, null, 2)
          : historyText(found, until),
      );
      return found.verdict.kind === 'whole' ? 0 : 1;
    });
  },
};
