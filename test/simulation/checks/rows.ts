/** At the end: that the rows are what the events lead to, as `ledger verify` sees it, and what is erased is gone. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type FaultKind, losesLog } from '../plan.ts';
import type { RunUntil, Simulation } from '../play-out.ts';
import { checkCollected } from './collected.ts';
import { checkErased } from './erased.ts';
import { checkExport } from './exported.ts';
import { mayLoseKeysOf } from './lost-keys.ts';
import { kindsForStaff } from './verified.ts';

/** The payments of which a folder has emails, as their names say. */
function emailsIn(folder: string): ReadonlySet<string> {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return new Set(files.map((file) => file.replace(/^\.?([^-]+)-.*$/, '$1')));
}

type Found = { hasParked: boolean; unreadable: number };

/** Resolves to whether streams are parked, and how many payments nobody can read. */
export async function checkRows(simulation: Simulation, runUntil: RunUntil): Promise<Found> {
  const {
    plan,
    bank,
    beganMs,
    logCheck: log,
    nodes,
    staff,
    staffProcess,
    verified,
    retentionMs,
  } = simulation;
  const { report } = simulation.violations;
  const { nowMs } = simulation.scheduler;
  const trusted = simulation.commands.trusted();
  const allDataKeys = simulation.rotations.allDataKeys();
  const mayLoseKeys = mayLoseKeysOf(plan, { beganMs, lives: nodes.lives });
  const unreadable = [...log.payments].flatMap(([id, each]) => (each.isUnreadable ? [id] : []));
  // The callbacks of a payment that cannot be read wait until it can be.
  const isOfUnreadable = (kind: string, text: string) =>
    kind === 'overdue deliveries' && unreadable.some((id) => text.includes(id));
  const has = (asked: FaultKind) => plan.faults.some(({ kind }) => kind === asked);
  let finished = false;
  let hasParked = false;
  staffProcess.enter(() => {
    void staff.verify(trusted).then(async (violations) => {
      const lost = await checkErased(staff.erasures.stores, {
        openByAny: staff.openBy(allDataKeys),
        outbox: emailsIn(join(simulation.dataDir, 'outbox')),
        log,
        report,
        nowMs: nowMs(),
        retentionMs,
        hasRestore: losesLog(plan),
        mayLoseKeys,
      }).catch((error: unknown) => {
        report('not-erased', 'keys', `They cannot be read: ${String(error)}`);
        return new Set<string>();
      });
      const isOfLost = (text: string) => [...lost].some((id) => text.includes(id));
      hasParked = violations?.some(({ kind }) => kind === 'parked streams') ?? false;
      for (const { kind, first } of violations ?? [])
        if (!kindsForStaff.includes(kind) && !isOfUnreadable(kind, first) && !isOfLost(first))
          report('rows-differ', kind, first);
      if (violations === null) report('rows-differ', 'verify', 'It could not be run');
      verified.check(await staff.lastVerified(), violations ?? []);
      const isTold = violations?.some(({ first }) => /gateway transaction/i.test(first));
      if (!isTold) for (const id of log.sharedIds()) report('gateway-id-twice', id, 'It pays two payments');
      if (has('settle') && !has('recovery') && !(await staff.settlements.isBankRight().catch(() => false)))
        report('rows-differ', 'bank', 'The account is not what was settled');
      if (has('imports') && !losesLog(plan) && unreadable.length === 0)
        await staff.imports
          .check()
          .catch((error) => report('import-misjudged', 'staff', `Nothing can be imported: ${String(error)}`));
      if (!losesLog(plan))
        await checkCollected(staff.stores.db, { bank, log, startMs: beganMs, nowMs: nowMs(), report }).catch(
          (error) => report('collected-wrong', 'staff', `No statement can be made: ${String(error)}`),
        );
      // Of a payment that nobody can read the rows lack what the file has; those of another log are not exported at all.
      if (!has('restore') && unreadable.length === 0)
        await checkExport(staff.stores, { log, trusted, report }).catch((error) =>
          report('export-wrong', 'staff', `Nothing can be exported: ${String(error)}`),
        );
      finished = true;
    });
  });
  await runUntil(nowMs() + 600_000, () => finished);
  return { hasParked, unreadable: unreadable.length };
}
