/**
 * Staff erase the personal data of payments, also of those that are under way, and of results in quarantine, at times two
 * of them at once; and write notes, which are personal data too.
 */
import type { Knex } from 'knex';
import { createExecute } from '../../../src/commands/execute.ts';
import { paymentDecider } from '../../../src/commands/payment.ts';
import type { Config } from '../../../src/config/config.ts';
import type { Cause } from '../../../src/events/envelope.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { unmatchedSubject } from '../../../src/personal-data/erase.ts';
import { createEraser } from '../../../src/roles/eraser.ts';
import type { OpenStores } from '../../../src/roles/stores.ts';
import type { LogCheck } from '../checks/log.ts';
import type { History } from '../engine/history.ts';
import type { Random } from '../engine/random.ts';

/** So often staff repeat all erasures that fail. */
const tries = 10;

/** To be called in the process of the staff. */
export function createErasures({
  stores,
  db,
  logCheck,
  history,
  causeOf,
}: {
  stores: OpenStores<Config>;
  db: Knex;
  logCheck: LogCheck;
  history: History;
  causeOf: (actor: string) => Cause;
}) {
  const { config, eventStore, personalData, runtime } = stores;
  const { erase, erasures } = createEraser({ ...stores, config }, db);
  const execute = createExecute({ eventStore, decider: paymentDecider, seal: personalData.seal });
  let sealing: Promise<void> | undefined;
  /** What was erased, and when staff were told so, by the true time. */
  const told = new Map<string, number>();
  /** The list that they keep outside the ledger. */
  const asked = new Set<string>();

  async function eraseOne(subject: string, actor: string): Promise<void> {
    asked.add(subject);
    try {
      await erase([{ subject, reason: 'requested', actor }]);
      told.set(subject, Date.now());
      history.tell(`${actor}: the personal data of ${subject} are erased`);
    } catch (error) {
      history.tell(`${actor}: ${subject} is not erased: ${String(error).slice(0, 200)}`);
    }
  }

  async function addNote(id: string): Promise<void> {
    const command = {
      type: 'AddNote',
      at: runtime.now().toISOString(),
      note: 'The payer has called',
    } as const;
    try {
      await execute(paymentStream(id), command, causeOf('staff:one'));
      history.tell(`staff: a note on ${id}`);
    } catch (error) {
      history.tell(`staff: no note on ${id}: ${String(error).slice(0, 200)}`);
    }
  }

  const readable = () =>
    [...logCheck.payments].flatMap(([id, { state, isUnreadable }]) =>
      state.status === 'none' || isUnreadable ? [] : id,
    );

  return {
    eraseOne,

    /** As the console and `ledger erase` do. */
    async eraseSome(random: Random): Promise<void> {
      logCheck.look();
      const results = [...logCheck.quarantine.results.keys()].map(unmatchedSubject);
      for (const subject of [...readable(), ...results]) {
        if (random.chance(0.85)) continue;
        const actors = random.chance(0.3) ? ['staff:one', 'staff:another'] : ['staff:one'];
        await Promise.all(actors.map((actor) => eraseOne(subject, actor)));
      }
    },

    /** An older copy of the log lacks what was erased since: `ledger erase` with all that was asked for, until all is done. */
    async repeatAll(): Promise<void> {
      told.clear();
      for (let number = 0; number < tries; number += 1) {
        logCheck.look();
        const known = [
          ...logCheck.payments.keys(),
          ...[...logCheck.quarantine.results.keys()].map(unmatchedSubject),
        ];
        const left = known.filter((subject) => asked.has(subject) && !told.has(subject));
        if (left.length === 0) return;
        for (const subject of left) await eraseOne(subject, 'staff:one');
        await runtime.sleep(60_000);
      }
    },

    /** As the page of a payment does. */
    async addNotes(random: Random): Promise<void> {
      sealing ??= personalData.start();
      await sealing;
      logCheck.look();
      for (const id of readable()) if (random.chance(0.1)) await addNote(id);
    },

    /** With what the check at the end reads. */
    stores: { open: personalData.open, erasures, told: told as ReadonlyMap<string, number> },
  };
}
