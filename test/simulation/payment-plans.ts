/** What payers do and what the gateway reports of it, drawn for a plan. */
import type { Random } from './engine/random.ts';
import { minute, second } from './fault-kinds.ts';
import type { AttemptPlan, MessagePlan, PaymentPlan, ReportPlan } from './plan.ts';

/**
 * `carelessness` is the share of what a gateway should never do, `reversals` of charges that the bank takes back. Payers
 * are `hurry` times faster than usual.
 */
type Habits = { carelessness: number; reversals: number; hurry: number };

export function makePayment(random: Random, number: number, activeMs: number, habits: Habits): PaymentPlan {
  let afterMs = (random.integer(1, 20) * second) / habits.hurry;
  const attempts: AttemptPlan[] = [];
  const count = random.pick([1, 1, 1, 1, 2, 2, 3]);
  for (let index = 0; index < count; index += 1) {
    attempts.push(makeAttempt(random, afterMs, habits, index === count - 1));
    afterMs += (random.integer(10, 90) * second) / habits.hurry;
  }
  return {
    number,
    atMs: random.integer(0, activeMs),
    merchant: random.integer(0, 3),
    amountSen: random.integer(200, 300_000),
    hasEmail: random.chance(0.1),
    isRepeated: random.chance(0.15),
    attempts,
  };
}

function makeAttempt(
  random: Random,
  afterMs: number,
  { carelessness, reversals, hurry }: Habits,
  isLast: boolean,
): AttemptPlan {
  const mode = random.pick(['fpx', 'fpx', 'fpx', 'cc', 'wallet', 'fpx1'] as const);
  const outcome = isLast
    ? random.pick(['charged', 'charged', 'charged', 'charged', 'declined', 'left'] as const)
    : random.pick(['declined', 'declined', 'cancelled', 'left', 'charged'] as const);
  const message = makeMessages(random, carelessness);
  return {
    afterMs,
    mode,
    outcome,
    bankMs: random.chance(0.05) ? random.integer(1, 10) * minute : (random.integer(2, 40) * second) / hurry,
    wrongBySen: random.chance(carelessness / 4) ? random.integer(-100, 100) : 0,
    messages: random.chance(0.8) ? [message('server'), message('browser')] : [message('server')],
    reversedAfterMs: random.chance(reversals) ? random.integer(10, 120) * second : null,
  };
}

/** Makes messages of one transaction, all of which are lost at times. */
function makeMessages(random: Random, carelessness: number): (by: MessagePlan['by']) => MessagePlan {
  const isLost = random.chance(0.06);
  return (by) => ({
    by,
    delayMs: random.chance(0.1) ? random.integer(1, 120) * second : random.integer(50, 1_500),
    fate: isLost || random.chance(0.05) ? 'lost' : random.chance(0.1) ? 'twice' : 'sent',
    form: random.chance(carelessness / 4) ? 'numbers' : random.pick(['form', 'form', 'json'] as const),
    omits: (['mode', 'order', 'id'] as const).filter(() => random.chance(carelessness)),
  });
}

/** Lets merchants cancel some payments, or request them only until a certain time, while payers take their time. */
export function withWithdrawals(
  payments: readonly PaymentPlan[],
  random: Random,
  hurry: number,
): readonly PaymentPlan[] {
  const soonMs = () => (random.integer(5, 180) * second) / hurry;
  return payments.map((payment) => {
    if (random.chance(0.7)) return payment;
    const withdrawal = { by: random.pick(['merchant', 'expiry'] as const), afterMs: soonMs() };
    const attempts = payment.attempts.map((each) => ({ ...each, hesitatesMs: soonMs() / 2 }));
    return { ...payment, withdrawal, attempts };
  });
}

/**
 * Lets some attempts be pending at first, and lets payers try several times at the gateway: one order then has several
 * transactions, each of which may charge them.
 */
export function withReports(
  payments: readonly PaymentPlan[],
  random: Random,
  carelessness: number,
): readonly PaymentPlan[] {
  const reported = (attempt: AttemptPlan): AttemptPlan => {
    const message = makeMessages(random, carelessness);
    const reportOf = (isOther: boolean): ReportPlan => {
      const afterMs = random.integer(0, attempt.bankMs * 1.5);
      const report = { afterMs, isOther, messages: [message('server')] };
      if (!isOther) return { ...report, status: 'pending' };
      const status = random.pick(['pending', 'declined', 'declined', 'cancelled', 'charged'] as const);
      if (status !== 'charged') return { ...report, status };
      const told = report.messages.map((each) => ({ ...each, fate: 'sent' as const, omits: [] }));
      return { ...report, status, messages: told };
    };
    const reports = random.pick([[false], [true], [false, true]]).map(reportOf);
    // Such a report may be all that anybody is told.
    const isLast = random.chance(0.3);
    const messages = attempt.messages.map((each) => (isLast ? { ...each, fate: 'lost' as const } : each));
    return { ...attempt, messages, reports };
  };
  return payments.map((payment) => ({
    ...payment,
    attempts: payment.attempts.map((each) => (random.chance(0.3) ? reported(each) : each)),
  }));
}

/**
 * Lets nobody be told in time how some attempts ended: neither the gateway nor the registry says it, the bank debits the
 * payer a day later, or the gateway's result arrives while staff decide, in one of their `rounds`.
 */
export function withUnknown(
  payments: readonly PaymentPlan[],
  rounds: readonly number[],
  random: Random,
): readonly PaymentPlan[] {
  if (rounds.length === 0) return payments;
  const hide = ({ atMs }: PaymentPlan, attempt: AttemptPlan): AttemptPlan => {
    const { mode, messages, outcome } = attempt;
    const registry = random.pick(['missing', 'attempted'] as const);
    // A corporate account is asked about for longer than these days. A failure that is reported is no unknown outcome.
    const hidden = { ...attempt, mode: mode === 'fpx1' ? 'fpx' : mode, registry, reports: [] } as const;
    const lost = messages.map((message) => ({ ...message, fate: 'lost' as const }));
    const meanwhileMs = random.pick(rounds) + random.integer(-5, 70) * second - atMs - attempt.afterMs;
    const late = { by: 'server', fate: 'sent', form: 'form', omits: [] } as const;
    if (outcome === 'left')
      return { ...hidden, outcome: 'charged', bankMs: meanwhileMs, messages: [{ ...late, delayMs: 500 }] };
    const arrives = { ...late, delayMs: meanwhileMs - attempt.bankMs };
    return { ...hidden, messages: random.chance(0.4) ? [...lost, arrives] : lost };
  };
  return payments.map((payment) => {
    if (random.chance(0.6)) return payment;
    const place = random.integer(0, payment.attempts.length - 1);
    const attempts = payment.attempts.map((each, index) => (index === place ? hide(payment, each) : each));
    return { ...payment, attempts };
  });
}
