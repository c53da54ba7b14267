/** `ledger erase`: destroys the keys of personal data. Everything else about a payment stays. */
import { createInterface } from 'node:readline/promises';
import { loadHead } from '../commands/execute.ts';
import { paymentDecider } from '../commands/payment.ts';
import { transactionIdPattern } from '../commands/transaction-id.ts';
import { paymentStream, type RequestedPayment } from '../events/payment.ts';
import { isHolding, KeysUnavailable } from '../events/personal-data.ts';
import { toDateTime } from '../kernel/malaysian-time.ts';
import { displaySen } from '../kernel/money.ts';
import { reasonOf } from '../kernel/reason-of.ts';
import { findByPayer } from '../personal-data/find-by-payer.ts';
import { printable } from '../receipts/printable.ts';
import { createEraser } from '../roles/eraser.ts';
import { type Command, flag, text, UsageError } from './command.ts';
import { type ContextWithDatabase, fail, print, staffCause, withStores } from './stores.ts';

const options = { payer: text, yes: flag } as const;

export const erase: Command<typeof options> = {
  summary: 'erases the personal data of payments, or of all payments of one person, for good',
  usage: '<transaction_id…> [--yes] | --payer "IC NUMBER OR EMAIL" [--yes]',
  options,
  takesArguments: true,
  async run({ payer, yes }, ids) {
    if (ids.length > 0 === (payer !== undefined))
      throw new UsageError('Name payments by their ids, or one person with --payer');
    const unknown = ids.find((id) => !transactionIdPattern.test(id));
    if (unknown !== undefined) throw new UsageError(`${unknown} is not a transaction id`);
    return await withStores('erase', async (context) => {
      let payments: RequestedPayment[];
      try {
        payments = payer === undefined ? await load(ids, context) : await findByPayer(payer, context);
      } catch (error) {
        if (!(error instanceof KeysUnavailable)) throw error;
        return fail(`${error.message}. Nothing was erased.`);
      }
      return await eraseListed(payments, yes ?? false, context);
    });
  },
};

async function load(
  ids: readonly string[],
  { eventStore }: ContextWithDatabase,
): Promise<RequestedPayment[]> {
  const loaded = await Promise.all(
    ids.map(async (id) => (await loadHead(eventStore, paymentStream(id), paymentDecider)).state),
  );
  return loaded.filter((state) => state.status !== 'none');
}

async function eraseListed(
  payments: readonly RequestedPayment[],
  isConfirmed: boolean,
  context: ContextWithDatabase,
): Promise<number> {
  if (payments.length === 0) return fail('There is no such payment.');
  for (const payment of payments) print(lineOf(payment));
  const holding = payments.filter(({ personalData }) => isHolding(personalData));
  if (holding.length === 0) {
    print('They hold no personal data any more.');
    return 0;
  }
  if (!isConfirmed && !(await confirm(holding.length)))
    return fail('Nothing was erased: it is erased with --yes, or after a confirmation at a terminal.');
  const { erase } = createEraser(context, context.db);
  const { actor } = staffCause();
  const asked = holding.map(({ request }) => ({
    transactionId: request.transactionId,
    reason: 'requested' as const,
    actor,
  }));
  let erased: string[];
  try {
    erased = await erase(asked);
  } catch (error) {
    return fail(
      `Interrupted: ${reasonOf(error)}. Part of it may be erased. What has begun completes by itself within two minutes while the reactors role runs; then repeat the command for the rest.`,
    );
  }
  print(`The personal data of ${erased.length} ${erased.length === 1 ? 'payment' : 'payments'} are erased.`);
  const inPlainText = holding.filter(
    ({ request, personalData }) => personalData.plain && erased.includes(request.transactionId),
  ).length;
  if (inPlainText > 0)
    print(
      `${inPlainText} of them were recorded by an earlier release: their personal data are no longer shown, but the event store still holds them in plain text.`,
    );
  return 0;
}

/** Nothing about the payer. */
function lineOf({ request, status, personalData }: RequestedPayment): string {
  const erased = personalData.erasedAt === null ? '' : `  erased ${toDateTime(personalData.erasedAt)}`;
  return `${request.transactionId}  ${toDateTime(request.at)}  ${status.padEnd(9)}  ${displaySen(request.amountSen)}  ${printable(request.reference)} of ${request.merchant.code}${erased}`;
}

/** False without asking if nobody is there to answer. */
async function confirm(count: number): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(
      `Erase the personal data of ${count} ${count === 1 ? 'payment' : 'payments'} for good? Type "erase": `,
    );
    return answer.trim() === 'erase';
  } finally {
    terminal.close();
  }
}
