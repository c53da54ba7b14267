/** Staff who answer a person that asks what is held about them, while payments are made, erased and rebuilt. */
import type { Knex } from 'knex';
import { findByPayer } from '../../../src/personal-data/find-by-payer.ts';
import type { RoleDependencies } from '../../../src/roles/stores.ts';
import type { LogCheck } from '../checks/log.ts';
import type { History } from '../engine/history.ts';
import type { Report } from '../violations.ts';
import type { Bank } from './bank.ts';

/** The address of every payer that gives one. */
export const payerEmail = 'payer@example.my';
/** Staff who are told that it failed ask again, so many times. */
const tries = 4;

export function createSubjectAccess({
  bank,
  logCheck,
  history,
  report,
  mayMiss,
  stores,
}: {
  bank: Bank;
  logCheck: LogCheck;
  history: History;
  report: Report;
  /** Whether a node of the event store may answer with an old state. */
  mayMiss: () => boolean;
  stores: Pick<RoleDependencies, 'eventStore' | 'personalData' | 'runtime'> & { db: Knex };
}) {
  /** Those that are recorded, and whose personal data nobody has begun to erase, as far as the log says. */
  function ofPayer(): string[] {
    logCheck.look();
    return [...logCheck.payments].flatMap(([id, { state, isUnreadable }]) =>
      state.status !== 'none' &&
      !isUnreadable &&
      state.personalData.erasedAt === null &&
      bank.withEmail.has(id)
        ? [id]
        : [],
    );
  }

  return {
    /** As `ledger subject-access` does. */
    async ask(): Promise<void> {
      for (let number = 0; number < tries; number += 1)
        try {
          const before = mayMiss() ? [] : ofPayer();
          const { payments } = await findByPayer(payerEmail, stores);
          const found = new Set(payments.map(({ request }) => request.transactionId));
          const after = new Set(ofPayer());
          history.tell(`staff: ${found.size} payments of one person are found`);
          for (const id of before)
            if (!found.has(id) && after.has(id) && !mayMiss())
              report('subject-missed', id, 'It was recorded before they were asked');
          return;
        } catch (error) {
          history.tell(`staff: nothing can be said of a person: ${String(error).slice(0, 200)}`);
          await stores.runtime.sleep(5_000 * 2 ** number);
        }
    },
  };
}
