/** Staff erase the personal data of payments, also of those that are under way, at times two of them at once. */
import { isHolding } from '@ledger/personal-data/sealed.ts';
import type { Knex } from 'knex';
import type { Config } from '../../../src/config/config.ts';
import { createEraser } from '../../../src/roles/eraser.ts';
import type { OpenStores } from '../../../src/roles/stores.ts';
import type { LogCheck } from '../checks/log.ts';
import type { History } from '../engine/history.ts';
import type { Random } from '../engine/random.ts';
import { type FaultKind, mayLoseKeys, type Plan } from '../plan.ts';
import type { Report } from '../violations.ts';

/** The projections role has completed by then what another process began. */
const completedAfterMs = 10 * 60_000;

/** To be called in the process of the staff. */
export function createErasures({
  stores,
  db,
  logCheck,
  history,
}: {
  stores: OpenStores<Config>;
  db: Knex;
  logCheck: LogCheck;
  history: History;
}) {
  const { config, personalData, runtime } = stores;
  const { erase, erasures } = createEraser({ ...stores, config }, db);
  /** The payments whose personal data were erased, as staff were told. */
  const told = new Set<string>();

  async function eraseOne(subject: string, actor: string): Promise<void> {
    try {
      await erase([{ subject, reason: 'requested', actor }]);
      told.add(subject);
      history.tell(`${actor}: the personal data of ${subject} are erased`);
    } catch (error) {
      history.tell(`${actor}: ${subject} is not erased: ${String(error).slice(0, 200)}`);
    }
  }

  return {
    /** As the console and `ledger erase` do. */
    async eraseSome(random: Random): Promise<void> {
      logCheck.look();
      for (const [id, { state, isUnreadable }] of logCheck.payments) {
        if (state.status === 'none' || isUnreadable || random.chance(0.85)) continue;
        const actors = random.chance(0.3) ? ['staff:one', 'staff:another'] : ['staff:one'];
        await Promise.all(actors.map((actor) => eraseOne(id, actor)));
      }
    },

    /**
     * Whether what counts as erased is gone, and nothing else. Resolves to the payments whose keys are lost and may be.
     * Rejects if the keys cannot be read.
     */
    async check(report: Report, plan: Plan): Promise<ReadonlySet<string>> {
      const has = (kind: FaultKind) => plan.faults.some((fault) => fault.kind === kind);
      const lost = new Set<string>();
      const before = new Date(runtime.now().getTime() - completedAfterMs);
      for (const { subject } of await erasures.begunBefore(before, { after: '', limit: 100 }))
        report('not-erased', subject, 'It was begun and not completed');
      for (const [id, { state, isUnreadable, sealed }] of logCheck.payments) {
        if (state.status === 'none' || isUnreadable) continue;
        const { erasedAt } = state.personalData;
        const isHeld = isHolding(state.personalData);
        // An older copy of the log may lack what was recorded; the keys are destroyed nevertheless.
        if (told.has(id) && !has('restore') && (erasedAt === null || isHeld))
          report('not-erased', id, `By its events it was erased at ${erasedAt ?? 'no time'}`);
        for (const { value, place } of sealed) {
          const opened = await personalData.open(value, place);
          const isErased = erasedAt !== null && !isHeld;
          if (isErased && opened.kind === 'open') report('not-erased', id, `Its ${place.field} can be read`);
          if (opened.kind === 'unavailable') lost.add(id);
        }
      }
      if (mayLoseKeys(plan)) return lost;
      for (const id of lost) report('acknowledged-lost', id, 'Its personal data cannot be read any more');
      return new Set();
    },
  };
}
