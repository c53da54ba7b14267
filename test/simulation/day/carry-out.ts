/** Carries out commands on one payment, and keeps its state and its books. */
import { Refused } from '../../../src/commands/decider.ts';
import { type PaymentCommand, paymentDecider } from '../../../src/commands/payment.ts';
import type { Payment, PaymentEvent } from '../../../src/events/payment.ts';
import { enter } from '../../../src/events/postings.ts';
import type { Life } from './life.ts';
import { lookAtPages } from './pages.ts';

const { decide, evolve } = paymentDecider;

/** Carries out a command; one that is refused changes nothing. Every page is looked at afterwards. */
export async function carryOut(life: Life, command: PaymentCommand): Promise<readonly PaymentEvent[]> {
  const decided = decide(command, life.state);
  if (decided instanceof Refused) return [];
  for (const event of decided) enterInto(life, event);
  if (decided.length > 0) await lookAtPages(life);
  return decided;
}

function enterInto(life: Life, event: PaymentEvent): void {
  const { books, entry } = enter(life.books, event);
  life.books = books;
  for (const { account, debitSen, creditSen } of entry?.postings ?? [])
    if (account.startsWith('gateway:')) life.gatewaySen += Number(debitSen - creditSen);
  const state: Payment = evolve(life.state, event);
  if (state.status !== 'none') life.state = state;
}
