/** What staff do about a payment, and what may happen to it on a later day. */
import { exceptionsOf, resolutionsFor } from '../../../src/events/exceptions.ts';
import type { Resolution } from '../../../src/events/recorded-result.ts';
import { unknownOutcomesOf } from '../../../src/events/unknown-attempt-outcomes.ts';
import { orderNo, sen } from '../../support/payments.ts';
import { carryOut } from './carry-out.ts';
import { askRegistry, reportFailure } from './gateway.ts';
import {
  type BankRecord,
  count,
  hourMs,
  isCharge,
  type Life,
  resultOf,
  timeOf,
  whereabouts,
} from './life.ts';

const termsOf = ({ takesParts }: Life) => ({ toldOf: [], takesParts, approvalAboveSen: null });

/** Staff settle half of what waits for them; of some money they say wrongly that it never was. */
export async function staffSettle(life: Life): Promise<void> {
  const { random } = life;
  life.nowMs += hourMs;
  for (const exception of exceptionsOf(life.state)) {
    if (exception.resolved || random.chance(0.5)) continue;
    const { kind, resultNo } = exception;
    const id = life.state.results[resultNo - 1]?.gatewayTransactionId;
    const isTakenBack = life.bank.some((each) => each.id === id && each.takenBackAt !== null);
    const choices = resolutionsFor(life.state, exception);
    const isNeverOwed = isTakenBack || random.chance(0.1);
    const isExplained =
      kind === 'lateSuccess' || choices.length === 1 || (kind !== 'contradiction' && isNeverOwed);
    const fitting = choices.filter((each) => (each === 'explained') === isExplained);
    if (fitting.length > 0) await resolve(life, resultNo, random.pick(fitting));
  }
  for (const { no, orderNo: order, settled } of unknownOutcomesOf(life.state)) {
    const charge = life.bank.find((each) => orderNo(each.attempt) === order && isCharge(each));
    if (settled || charge || random.chance(0.5)) continue;
    const verdict = {
      no,
      outcome: 'failed',
      amountSen: null,
      gatewayTransactionId: '',
      evidence: 'x',
    } as const;
    await carryOut(life, { type: 'GiveVerdict', at: timeOf(life), ...verdict });
  }
}

async function resolve(life: Life, resultNo: number, resolution: Resolution): Promise<void> {
  const action = { kind: 'resolution', resultNo, resolution, note: 'x' } as const;
  const terms = termsOf(life);
  await carryOut(life, { type: 'TakeAction', at: timeOf(life), by: 'staff:A', terms, action });
}

/** A later day: the bank takes a charge back, or staff refund a payer. */
export async function aftermath(life: Life): Promise<void> {
  const { random, state } = life;
  life.nowMs += 20 * hourMs;
  const known = life.bank.filter(isCharge).filter((each) => resultOf(state, each) !== undefined);
  if (known.length === 0) return;
  const charge = random.pick(known);
  const paidBy = state.status === 'succeeded' ? resultOf(state, charge) : undefined;
  const happens = random.next();
  if (happens < (life.isTroubled ? 0.5 : 0.01)) await takeBack(life, charge);
  else if (happens < 0.02 && paidBy?.role === 'applied') {
    count(life, 'refunded by staff, in whole or in part');
    const named = { amountSen: random.pick([charge.sen, sen(100)]), gatewayReference: 'RF-1', reason: 'x' };
    const action = { kind: 'refund', chargeNo: state.results.indexOf(paidBy) + 1, ...named } as const;
    const terms = termsOf(life);
    await carryOut(life, { type: 'TakeAction', at: timeOf(life), by: 'staff:A', terms, action });
  }
}

/** The bank takes a charge back. At times it was said to have failed before, when it had not, and staff explained that. */
async function takeBack(life: Life, charge: BankRecord): Promise<void> {
  const { random } = life;
  if (random.chance(0.4)) {
    await reportFailure(life, charge, 'failed');
    for (const resultNo of failuresBeforeStaff(life, charge)) await resolve(life, resultNo, 'explained');
  }
  life.nowMs += random.integer(1, 30) * hourMs;
  charge.takenBackAt = timeOf(life);
  const where = whereabouts(life.state, charge);
  count(life, `taken back by the bank while ${where}`);
  const isAsked = random.chance(0.4);
  if (!isAsked) await reportFailure(life, charge, 'failed');
  const isTold = !isAsked || (await askRegistry(life)).includes(charge.id);
  const isInBooks = where === 'paid' || where === 'open';
  if (isTold && isInBooks && failuresBeforeStaff(life, charge).length === 0)
    throw new Error(`The bank took a charge back, and staff do not see it: ${JSON.stringify(charge)}`);
  await staffSettle(life);
}

/** The numbers of the failures of a charge that wait for staff. */
function failuresBeforeStaff({ state }: Life, { id }: BankRecord): number[] {
  const open = exceptionsOf(state).filter(({ kind, resolved }) => kind === 'contradiction' && !resolved);
  const isOfCharge = (resultNo: number) => state.results[resultNo - 1]?.gatewayTransactionId === id;
  return open.map(({ resultNo }) => resultNo).filter(isOfCharge);
}
