/** `ledger erase`: destroys the keys of personal data. Everything else about a payment stays. */
import { createInterface } from 'node:readline/promises';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { printable } from '@ledger/pdf/printable.ts';
import { type HeldKeys, isHolding } from '@ledger/personal-data/sealed.ts';
import { Refused } from '../commands/decider.ts';
import { loadHead } from '../commands/execute.ts';
import { paymentDecider } from '../commands/payment.ts';
import { transactionIdPattern } from '../commands/transaction-id.ts';
import { loadUnmatched } from '../commands/unmatched.ts';
import { toDateTime } from '../common/malaysian-time.ts';
import { displaySen } from '../common/money.ts';
import { plural } from '../common/plural.ts';
import type { OpenPayment } from '../events/open-payment.ts';
import { paymentStream, type RequestedPayment } from '../events/payment.ts';
import { placeOfUnmatched } from '../events/unmatched.ts';
import { unmatchedIn, unmatchedSubject } from '../personal-data/erase.ts';
import { type FoundUnmatched, findByPayer, nothingFound } from '../personal-data/find-by-payer.ts';
import { createEraser } from '../roles/eraser.ts';
import { type CommandOf, type CommandOutcome, UsageError } from './command.ts';
import { type Context, fail, staffCause, withStores } from './stores.ts';

type EraseContext = Context<'dataKeys' | 'mail'>;

/** What may be erased: a payment, or a result in quarantine. `line` says nothing about the payer. */
type Listed = { subject: string; held: HeldKeys; line: string };

export const command: CommandOf<'erase'> = async ({ payer, yes }, subjects) => {
  if (subjects.length > 0 === (payer !== undefined))
    throw new UsageError('Name payments by their ids, or one person with --payer');
  const unknown = subjects.find((each) => !isSubject(each));
  if (unknown !== undefined)
    throw new UsageError(`${unknown} is not the id of a payment or an unmatched result`);
  return await withStores('erase', { uses: ['dataKeys', 'mail'] }, async (context) => {
    const listed = payer === undefined ? await load(subjects, context) : await find(payer, context);
    return await eraseListed(listed, yes ?? false, context);
  });
};

function isSubject(text: string): boolean {
  const unmatchedId = unmatchedIn(text);
  return unmatchedId === null ? transactionIdPattern.test(text) : placeOfUnmatched(unmatchedId) !== null;
}

/** Throws Refused if one of them does not exist. */
async function load(subjects: readonly string[], { eventStore }: EraseContext): Promise<Listed[]> {
  const loaded = await Promise.all(
    subjects.map(async (subject) => {
      const id = unmatchedIn(subject);
      if (id !== null) {
        const found = await loadUnmatched(id, eventStore);
        return found && ofUnmatched({ id, loaded: found });
      }
      const { state } = await loadHead(eventStore, paymentStream(subject), paymentDecider);
      return state.status === 'none' ? null : ofPayment(state);
    }),
  );
  const missing = subjects.filter((_, index) => loaded[index] === null);
  if (missing.length > 0)
    throw new Refused('unknown_payment', `Nothing was erased: there is no ${missing.join(' and no ')}`);
  return loaded.filter((each) => each !== null);
}

async function find(payer: string, context: EraseContext): Promise<Listed[]> {
  const { payments, unmatched } = await findByPayer(payer, context);
  return [...payments.map(ofPayment), ...unmatched.map(ofUnmatched)];
}

async function eraseListed(
  listed: readonly Listed[],
  isConfirmed: boolean,
  context: EraseContext,
): Promise<CommandOutcome> {
  if (listed.length === 0) return fail(nothingFound);
  for (const { subject, held, line } of listed)
    process.stderr.write(
      `${subject}  ${line}${held.erasedAt === null ? '' : `  erased ${toDateTime(held.erasedAt)}`}\n`,
    );
  const holding = listed.filter(({ held }) => isHolding(held));
  if (holding.length === 0) return { data: { erased: [] }, text: 'They hold no personal data any more.' };
  if (!isConfirmed && !(await confirm(countOf(holding))))
    return fail('Nothing was erased: it is erased with --yes, or after a confirmation at a terminal.');
  const { erase } = createEraser(context, context.db);
  const { actor } = staffCause();
  let erased: string[];
  try {
    erased = await erase(holding.map(({ subject }) => ({ subject, reason: 'requested', actor })));
  } catch (error) {
    return fail(
      `Interrupted: ${reasonOf(error)}. Part of it may be erased. What has begun completes by itself within two minutes while the projections role runs; then repeat the command for the rest.`,
    );
  }
  const done = holding.filter(({ subject }) => erased.includes(subject));
  const inPlainText = done.filter(({ held }) => held.plain).map(({ subject }) => subject);
  const text = [`The personal data of ${countOf(done)} are erased.`];
  if (inPlainText.length > 0)
    text.push(
      `${inPlainText.length} of them were recorded by an earlier release: their personal data are no longer shown, but the event store still holds them in plain text.`,
    );
  return { data: { erased, inPlainText }, text: text.join('\n') };
}

function countOf(listed: readonly Listed[]): string {
  const results = listed.filter(({ subject }) => unmatchedIn(subject) !== null).length;
  const payments = plural(listed.length - results, 'payment');
  return results === 0 ? payments : `${payments} and ${plural(results, 'unmatched result')}`;
}

function ofPayment({ personalData, request, status }: RequestedPayment | OpenPayment): Listed {
  const { amountSen, at, merchant, reference, transactionId } = request;
  return {
    subject: transactionId,
    held: personalData,
    line: `${toDateTime(at)}  ${status.padEnd(9)}  ${displaySen(amountSen)}  ${printable(reference)} of ${merchant.code}`,
  };
}

function ofUnmatched({ id, loaded: { personalData, result } }: FoundUnmatched): Listed {
  const line = `${toDateTime(result.at)}  result that belongs to no payment (${result.reason})`;
  return { subject: unmatchedSubject(id), held: personalData, line };
}

/** False without asking if nobody is there to answer. */
async function confirm(count: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`Erase the personal data of ${count} permanently? Type "erase": `);
    return answer.trim() === 'erase';
  } finally {
    terminal.close();
  }
}
