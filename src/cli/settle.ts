/** `ledger settle`: records what the gateway paid out and what was handed on to agencies, or reverses it. */
import { createReadStream } from 'node:fs';
import { note as noteField } from '../commands/fields.ts';
import { settlementIdOf, settlementKinds } from '../events/settlement.ts';
import { displaySen } from '../kernel/money.ts';
import { merchantsWithAccount } from '../projections/journal/queries.ts';
import { enterSettlement, importSettlement, reverseSettlement } from '../reconciliation/settle.ts';
import { readHead, readPart } from '../reconciliation/settlement-file.ts';
import { discrepancyText, isAllMatched } from '../reconciliation/summary.ts';
import { type Command, flag, text, UsageError, type Values } from './command.ts';
import { failureText } from './failure-text.ts';
import { readArgument } from './options.ts';
import { type ContextWithDatabase, fail, print, staffCause, withStores } from './stores.ts';

const options = {
  reference: text,
  on: text,
  total: text,
  reverse: text,
  note: text,
  confirm: flag,
  'dry-run': flag,
} as const;
type Given = Values<typeof options>;

export const settle: Command<typeof options> = {
  summary: 'records a payout of the gateway or what was handed on to agencies, or reverses it',
  usage:
    'FILE [--dry-run] [--confirm] | --reference TEXT --on DAY --total RM ACCOUNT=RM… [--confirm] | --reverse payout:REFERENCE --note TEXT',
  options,
  takesArguments: true,
  async run(values, args) {
    const work =
      values.reverse === undefined ? (values.reference === undefined ? importFile : enter) : reverse;
    try {
      return await withStores('settle', (context) => work(context, values, args));
    } catch (error) {
      if (error instanceof UsageError) throw error;
      // Not 1, which means discrepancies.
      fail(failureText(error));
      return 2;
    }
  },
};

type Work = (context: ContextWithDatabase, values: Given, args: readonly string[]) => Promise<number>;

const importFile: Work = async (
  { config, ...stores },
  { confirm = false, 'dry-run': dryRun = false },
  args,
) => {
  const { isNew, kind, reference, rows, summary, totalSen } = await importSettlement(
    { ...stores, transactionIdKey: config.transactionIdKey },
    {
      file: createReadStream(readArgument(args, 'Name one file')),
      isConfirmed: confirm,
      dryRun,
      waitMs: 20_000,
      newCause: staffCause,
      onBadRow: ({ line, fault }) => print(`line ${line} ${fault}`),
      onDiscrepancy: (id, discrepancy) => print(discrepancyText(id, discrepancy)),
    },
  );
  const outcome = dryRun ? 'nothing was recorded' : isNew ? 'recorded' : 'was recorded before';
  print(`The ${kind} ${reference} of ${displaySen(totalSen)}, ${rows} rows: ${outcome}.`);
  return summary === null || isAllMatched(summary) ? 0 : 1;
};

const enter: Work = async ({ config, ...stores }, { confirm = false, ...given }, args) => {
  const head = readHead(given.reference, given.on, given.total);
  if (typeof head === 'string') throw new UsageError(head);
  const merchants = await merchantsWithAccount(stores.db);
  const parts = args.map((arg) => {
    const at = arg.lastIndexOf('=');
    const part = readPart(arg.slice(0, Math.max(at, 0)), arg.slice(at + 1), merchants);
    if (typeof part === 'string') throw new UsageError(`${arg} ${part}`);
    return part;
  });
  const kind = parts.some(({ account }) => account.startsWith('merchant:')) ? 'remittance' : 'payout';
  const { id, isNew } = await enterSettlement(
    { ...stores, transactionIdKey: config.transactionIdKey },
    { kind, ...head, parts },
    { isConfirmed: confirm, newCause: staffCause },
  );
  print(`The ${kind} ${head.reference} ${isNew ? 'is recorded' : 'was recorded before'} (${id}).`);
  return 0;
};

const reverse: Work = async (stores, { reverse: named = '', note = '' }) => {
  const kind = settlementKinds.find((each) => named.startsWith(`${each}:`));
  if (!kind) throw new UsageError('--reverse must be payout:REFERENCE or remittance:REFERENCE');
  const [failure] = noteField.validate(note);
  if (failure) throw new UsageError(`--note ${failure.message}`);
  const id = settlementIdOf(kind, named.slice(kind.length + 1));
  await reverseSettlement(stores, id, note, staffCause());
  print('It is reversed.');
  return 0;
};
