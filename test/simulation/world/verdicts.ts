/** Staff who ask the bank about attempts whose outcome nobody knew at the end of their schedule, and give a verdict. */
import { Refused } from '../../../src/commands/decider.ts';
import { createExecute } from '../../../src/commands/execute.ts';
import { paymentDecider } from '../../../src/commands/payment.ts';
import type { Verdict } from '../../../src/commands/unknown-attempt-outcomes.ts';
import type { Sen } from '../../../src/common/money.ts';
import type { Cause } from '../../../src/events/envelope.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { openAttempts } from '../../../src/events/requery-schedule.ts';
import { unknownOutcomesOf } from '../../../src/events/unknown-attempt-outcomes.ts';
import type { RoleDependencies } from '../../../src/roles/stores.ts';
import type { LogCheck } from '../checks/log.ts';
import type { History } from '../engine/history.ts';
import type { Random } from '../engine/random.ts';
import type { Bank } from './bank.ts';

/** A verdict that was confirmed to whoever gave it. */
type GivenVerdict = {
  transactionId: string;
  orderNo: string;
  outcome: Verdict;
  amountSen: Sen | null;
  /** `''` if they did not know it. */
  gatewayTransactionId: string;
};

/** Who is told that it failed enters the same again, so many times. */
const tries = 6;

export function createVerdicts({
  bank,
  logCheck,
  history,
  causeOf,
  stores: { eventStore, personalData, runtime },
}: {
  bank: Bank;
  logCheck: LogCheck;
  history: History;
  causeOf: (actor: string) => Cause;
  stores: Pick<RoleDependencies, 'eventStore' | 'personalData' | 'runtime'>;
}) {
  const execute = createExecute({ eventStore, decider: paymentDecider, seal: personalData.seal });
  const confirmed: GivenVerdict[] = [];
  let sealing: Promise<void> | undefined;

  async function give(
    by: string,
    { transactionId, orderNo, no }: { transactionId: string; orderNo: string; no: number },
    said: { outcome: Verdict; amountSen: Sen | null; gatewayTransactionId: string },
  ): Promise<void> {
    const { outcome, gatewayTransactionId } = said;
    const what = `verdict ${outcome} ${gatewayTransactionId} on ${orderNo}`;
    for (let number = 0; number < tries; number += 1) {
      const at = runtime.now().toISOString();
      const command = { type: 'GiveVerdict', at, no, evidence: 'As the bank says', ...said } as const;
      try {
        await execute(paymentStream(transactionId), command, causeOf(by));
        history.tell(`${by}: ${what}`);
        return void confirmed.push({ transactionId, orderNo, ...said });
      } catch (error) {
        const told = error instanceof Refused ? error.code : String(error).slice(0, 200);
        history.tell(`${by}: ${what} fails: ${told}`);
        if (error instanceof Refused) return;
        await runtime.sleep(20_000 * 2 ** number);
      }
    }
  }

  /** Asks the bank, thinks about it for up to a minute, and gives the verdict; at times two members of staff do so at once. */
  async function decide(
    about: { transactionId: string; orderNo: string; no: number },
    random: Random,
  ): Promise<void> {
    const charge = bank.charges.find(({ orderNo }) => orderNo === about.orderNo);
    // What was charged and taken back is neither.
    if (charge && charge.reversedAtMs !== null) return;
    await runtime.sleep(random.integer(0, 60_000));
    const actors = random.chance(0.3) ? ['staff:one', 'staff:another'] : ['staff:one'];
    await Promise.all(
      actors.map((by) => {
        const gatewayTransactionId = charge && random.chance(0.6) ? charge.id : '';
        const amountSen = charge ? (charge.amountSen as Sen) : null;
        return give(by, about, {
          outcome: charge ? 'succeeded' : 'failed',
          amountSen,
          gatewayTransactionId,
        });
      }),
    );
  }

  return {
    /** Decides on most of the outcomes that are unknown; and too early on some attempts that are still asked about. */
    async decideAll(random: Random): Promise<void> {
      sealing ??= personalData.start();
      await sealing;
      logCheck.look();
      const decisions: Promise<void>[] = [];
      for (const [transactionId, { state }] of logCheck.payments) {
        if (state.status === 'none') continue;
        const unknown = unknownOutcomesOf(state);
        for (const { no, orderNo, settled } of unknown)
          if (!settled && random.chance(0.85)) decisions.push(decide({ transactionId, orderNo, no }, random));
        const [early] = openAttempts(state).filter(({ sellerOrderNo }) =>
          unknown.every(({ orderNo }) => orderNo !== sellerOrderNo),
        );
        if (early && random.chance(0.2))
          decisions.push(
            decide({ transactionId, orderNo: early.sellerOrderNo, no: unknown.length + 1 }, random),
          );
      }
      await Promise.all(decisions);
    },

    confirmed: (): readonly GivenVerdict[] => confirmed,
  };
}
