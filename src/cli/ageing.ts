/** `ledger ageing`: what of the clearing accounts has not come back to zero, by age. */
import { toIsoWithOffset } from '../kernel/malaysian-time.ts';
import { signedSen } from '../kernel/money.ts';
import { type AgedAccount, ageing as ageingOf, ages } from '../projections/journal/ageing.ts';
import { aligned } from './balances.ts';
import { type Command, flag, text } from './command.ts';
import { readAsOf } from './options.ts';
import { print, withJournal } from './stores.ts';

const options = { at: text, json: flag } as const;

export const ageing: Command<typeof options> = {
  summary: 'what gateway, agencies and suspense still have open, by age in days',
  usage: '[--at TIME] [--json]',
  options,
  async run({ at, json = false }) {
    const asOf = readAsOf('at', at);
    return await withJournal({ asOf, whenBehind: json ? 'refuse' : 'warn' }, async ({ db }) => {
      const accounts = await ageingOf(db, asOf);
      print(json ? ageingJson(accounts, asOf) : ageingText(accounts, asOf));
      return 0;
    });
  },
};

export function ageingText(accounts: readonly AgedAccount[], asOf: Date): string {
  const at = toIsoWithOffset(asOf.toISOString());
  if (accounts.length === 0) return `Everything is paid out and handed on, as of ${at}.`;
  const rows = accounts.map(({ account, byAge, openSen, undatedSen }) => [
    account,
    ...[...byAge, undatedSen, openSen].map(signedSen),
  ]);
  const header = ['Open by age in days (RM)', ...ages, 'no day', 'Total'];
  return [...aligned([header, ...rows]), '', `As of ${at}.`].join('\n');
}

/** Amounts in sen, as texts, because sums may exceed what programs read exactly. */
function ageingJson(accounts: readonly AgedAccount[], asOf: Date): string {
  return JSON.stringify(
    { asOf: asOf.toISOString(), ages, accounts },
    (_, value) => (typeof value === 'bigint' ? String(value) : value),
    2,
  );
}
