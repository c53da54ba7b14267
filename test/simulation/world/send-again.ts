/** Staff who have deliveries sent again, one or many, at times two of them at once. */
import { createExecute } from '../../../src/commands/execute.ts';
import { paymentDecider } from '../../../src/commands/payment.ts';
import { type DeliveryId, requestDeliveries } from '../../../src/commands/send-again.ts';
import type { Cause } from '../../../src/events/envelope.ts';
import type { RoleDependencies } from '../../../src/roles/stores.ts';
import type { LogCheck } from '../checks/log.ts';
import type { History } from '../engine/history.ts';
import type { Random } from '../engine/random.ts';

/** Who is told that it failed asks again, so many times. */
const tries = 4;

export function createSendAgain({
  logCheck,
  history,
  causeOf,
  stores: { eventStore, runtime },
}: {
  logCheck: LogCheck;
  history: History;
  causeOf: (actor: string) => Cause;
  stores: Pick<RoleDependencies, 'eventStore' | 'runtime'>;
}) {
  const execute = createExecute({ eventStore, decider: paymentDecider });

  async function ask(by: string, chosen: readonly DeliveryId[]): Promise<void> {
    const dependencies = { execute, cause: () => causeOf(by), runtime };
    for (let number = 0; number < tries; number += 1)
      try {
        const { added, refused } = await requestDeliveries(dependencies, chosen);
        return history.tell(
          `${by}: ${added} of ${chosen.length} deliveries are sent again, ${refused} refused`,
        );
      } catch (error) {
        history.tell(`${by}: sending again fails: ${String(error).slice(0, 200)}`);
        await runtime.sleep(5_000);
      }
  }

  return {
    /** Whatever has become of them so far: also those that are on their way, and callbacks that a newer one overtook. */
    async sendSome(random: Random): Promise<void> {
      logCheck.look();
      const chosen = [...logCheck.payments].flatMap(([transactionId, { state, isUnreadable }]) =>
        state.status === 'none' || isUnreadable
          ? []
          : state.deliveries
              .filter(() => random.chance(0.4))
              .map(({ key }) => ({ transactionId, delivery: key })),
      );
      const actors = random.chance(0.5) ? ['staff:one', 'staff:another'] : ['staff:one'];
      await Promise.all(actors.map((by) => ask(by, chosen)));
    },
  };
}
