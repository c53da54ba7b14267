/** The payer, the bank, and what the gateway and the registry say of it. */
import { answerOf } from '../../../src/clients/transaction-registry/answer.ts';
import { toDateTime } from '../../../src/common/malaysian-time.ts';
import { addSen, formatSen, type Sen } from '../../../src/common/money.ts';
import type { ReportedResult } from '../../../src/events/payment-result.ts';
import { nextRequeryAt, openAttempts } from '../../../src/events/requery-schedule.ts';
import { amountSen, choose, record, result, sen } from '../../support/payments.ts';
import { carryOut } from './carry-out.ts';
import { type BankRecord, count, type Life, timeOf } from './life.ts';
import { lookAtPages } from './pages.ts';

/** The payer tries until a try is reported as paid, gives up, or hears nothing; some then try again all the same. */
export async function payerTries(life: Life): Promise<void> {
  const { random } = life;
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    const isCard = random.chance(0.3);
    const again = openAttempts(life.state).length > 0;
    const choice = isCard ? ({ mode: 'cc', bankCode: '', chargeSen: sen(150) } as const) : {};
    const chosen = await carryOut(life, choose(attempt, { at: timeOf(life), again, ...choice }));
    if (chosen.length === 0) return;
    await bankDecides(life, attempt, addSen(amountSen, sen(isCard ? 150 : 0)));
    const isKnown = openAttempts(life.state).length === 0;
    if (life.state.status === 'succeeded' || random.chance(isKnown ? 0.3 : 0.8)) break;
  }
  if (random.chance(0.1)) await carryOut(life, { type: 'CancelPayment', at: timeOf(life), source: 'payer' });
}

async function bankDecides(life: Life, attempt: number, asked: Sen): Promise<void> {
  const { random } = life;
  // Most that goes wrong concerns few payers.
  const rate = life.isTroubled ? 0.2 : 0.005;
  life.nowMs += random.integer(5_000, 120_000);
  const isDenied = random.chance(rate);
  const common = { attempt, at: timeOf(life), takenBackAt: null, isDenied };
  const failure = { ...common, id: `G${attempt}`, sen: null };
  if (random.chance(0.03)) return;
  if (random.chance(0.1)) {
    life.bank.push(failure);
    return report(life, failure);
  }
  if (isDenied) await reportFailure(life, failure, 'cancelled');
  const isWrong = random.chance(rate);
  if (isWrong) count(life, 'charges of a wrong amount');
  const charge = { ...failure, sen: isWrong ? sen(random.pick([asked - 5_000, asked + 100])) : asked };
  const charges = random.chance(rate) ? [charge, { ...charge, id: `G${attempt}-twice` }] : [charge];
  if (charges.length > 1) count(life, 'charged twice under one order');
  life.bank.push(...charges);
  await lookAtPages(life);
  for (const each of charges) await report(life, each);
}

/** The gateway's result, which may be lost, or sent twice. */
async function report(life: Life, bankRecord: BankRecord): Promise<void> {
  const { random } = life;
  if (random.chance(0.02)) return count(life, 'lost results');
  life.nowMs += random.integer(1_000, 60_000);
  const { attempt, at, id, sen: taken } = bankRecord;
  const outcome = taken === null ? 'failed' : 'succeeded';
  const attempted = life.state.attempts[attempt - 1];
  const reported: ReportedResult = result(attempt, outcome, {
    gatewayTransactionId: id,
    amountSen: taken ?? amountSen,
    mode: attempted?.mode ?? 'fpx',
    paidAt: at,
  });
  if (taken !== null && life.isTroubled && random.chance(0.1)) {
    count(life, 'charges first reported with a wrong amount');
    await carryOut(life, record({ ...reported, amountSen: addSen(taken, sen(1)) }, { at: timeOf(life) }));
  }
  for (const _ of random.chance(0.05) ? [1, 2] : [1])
    await carryOut(life, record(reported, { at: timeOf(life) }));
}

/** The gateway reports that a transaction came to nothing, or no longer holds. */
export async function reportFailure(
  life: Life,
  { attempt, id, sen: taken }: BankRecord,
  outcome: 'failed' | 'cancelled',
): Promise<void> {
  const named = { gatewayTransactionId: id, amountSen: taken ?? amountSen, paidAt: timeOf(life) };
  const mode = life.state.attempts[attempt - 1]?.mode ?? 'fpx';
  await carryOut(life, record(result(attempt, outcome, { ...named, mode }), { at: timeOf(life) }));
  life.nowMs += 1_000;
}

/** The registry is asked on schedule until nothing is left to ask. Its records name no order. */
export async function requeries(life: Life): Promise<void> {
  let askedAt: string | null = null;
  for (;;) {
    const next = nextRequeryAt(life.state, askedAt);
    if (next === null) return;
    life.nowMs = Math.max(life.nowMs, Date.parse(next));
    askedAt = timeOf(life);
    await askRegistry(life);
  }
}

/** Asks about the payment now; returns the transactions whose results the answer has. */
export async function askRegistry(life: Life): Promise<string[]> {
  count(life, 'questions to the registry');
  const records = life.bank.map(({ attempt, at, id, sen: taken, takenBackAt }) => ({
    merchant_trans_id: life.state.request.transactionId,
    eps_status: taken === null || takenBackAt ? '2' : '1',
    receipt_no: '',
    payment_mode: life.state.attempts[attempt - 1]?.mode ?? '',
    gateway_id1: id,
    buyer_bank: '',
    buyer_name: '',
    amount: formatSen(taken ?? amountSen),
    payment_datetime: toDateTime(takenBackAt ?? at),
  }));
  const asked = { at: timeOf(life), channel: 'generic', merchantCode: 'council', counted: 'none' } as const;
  const answer = answerOf(records);
  await carryOut(life, { type: 'RecordRequery', ...asked, answer });
  return answer.results.map(({ gatewayTransactionId }) => gatewayTransactionId);
}
