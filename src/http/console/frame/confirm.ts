/** Asks before an action, and says what it means or what it would post to the journal. */
import { format } from '@ledger/kernel/format.ts';
import { Refused } from '../../../commands/decider.ts';
import { type PaymentCommand, paymentDecider } from '../../../commands/payment.ts';
import type { Payment, PaymentEvent } from '../../../events/payment.ts';
import { type Books, type Entry, enter } from '../../../events/postings.ts';
import { type ConsoleTexts, textsOf } from '../texts.ts';
import { readForm } from './forms-and-lists.ts';
import type { PageDependencies } from './page.ts';
import type { StaffContext } from './session.ts';

export type Effect = { entries: readonly Entry[]; isProposal: boolean };

/** What the command would do to a payment whose events so far are `past`. Throws Refused. */
export function effectOf(
  command: PaymentCommand,
  state: Payment,
  past: readonly (PaymentEvent | null)[],
): Effect {
  const decided = paymentDecider.decide(command, state);
  if (decided instanceof Refused) throw decided;
  let books: Books | null = null;
  const entered = [...past, ...decided].map((event) => {
    const next = event === null ? { books, entry: null } : enter(books, event);
    books = next.books;
    return next.entry;
  });
  const entries = entered.slice(past.length).filter((entry) => entry !== null);
  return { entries, isProposal: decided.some(({ type }) => type === 'ApprovalRequested') };
}

/** Whether the form was confirmed. If not, shows a page that asks, whose button sends the same form again. */
export async function isConfirmed(
  ctx: StaffContext,
  { show }: Pick<PageDependencies, 'show'>,
  title: string,
  effect: Effect | { meaning: string; backUrl: string },
): Promise<boolean> {
  const { token: _, confirmed, ...fields } = readForm(ctx);
  if (confirmed === 'yes') return true;
  const noEffect = { meaning: null, backUrl: ctx.url, entries: [], isProposal: false };
  await show(ctx, 'confirm.njk', { title, action: ctx.url, fields, ...noEffect, ...effect });
  return false;
}

/** Like `isConfirmed`, for an action that moves no money; `name` is whom or what the action is about. */
export async function isMeant(
  ctx: StaffContext,
  dependencies: Pick<PageDependencies, 'show'>,
  what: keyof ConsoleTexts['confirm'],
  { name, backUrl }: { name: string; backUrl: string },
): Promise<boolean> {
  const { meaning, title } = textsOf(ctx).confirm[what];
  return await isConfirmed(ctx, dependencies, format(title, { name }), { meaning, backUrl });
}
