/**
 * Operators who have lost everything, and begin again from a backup: content/docs/operations.md, "Restore from a backup".
 * They stop all processes, put the log back and a PostgreSQL that has nothing but the keys, and import what was paid since.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LogCheck } from '../checks/log.ts';
import type { History } from '../engine/history.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import type { Nodes } from '../program/nodes.ts';
import type { EventStoreCluster } from '../stores/event-store.ts';
import type { SimulatedPostgres } from '../stores/postgres.ts';
import type { Bank } from './bank.ts';
import type { KeyCommands } from './key-commands.ts';
import type { Receivers } from './receivers.ts';

/** How long PostgreSQL is away while it is copied. */
export const copiedMs = 1_000;

/** Until the processes have made their tables. */
const startedMs = 60_000;

/** Takes the log back to a position: nobody can expect the program to know what was lost. */
export function loseLog(
  position: number,
  { cluster, logCheck, bank }: { cluster: EventStoreCluster; logCheck: LogCheck; bank: Bank },
): void {
  logCheck.look();
  const before = [...logCheck.payments.keys()];
  cluster.restore(position);
  logCheck.startAgain();
  logCheck.look();
  bank.forget(before.filter((id) => !logCheck.payments.has(id)));
}

/** The backup is made now, and everything is lost `ageMs` later; PostgreSQL is away for `forMs` then. */
export async function recover(
  { ageMs, forMs }: { ageMs: number; forMs: number },
  {
    nodes,
    cluster,
    postgres,
    receivers,
    commands,
    scheduler,
    history,
    dataDir,
    ...known
  }: {
    nodes: Nodes;
    cluster: EventStoreCluster;
    postgres: SimulatedPostgres;
    receivers: Receivers;
    commands: KeyCommands;
    scheduler: Scheduler;
    history: History;
    dataDir: string;
    logCheck: LogCheck;
    bank: Bank;
  },
): Promise<void> {
  history.tell('operators: a backup is made');
  const position = cluster.lastPosition();
  postgres.crash();
  const copy = postgres.copy();
  scheduler.after(copiedMs, postgres.start);
  await scheduler.sleep(ageMs);
  history.tell('operators: everything is lost, and begins again from the backup');
  const starts = await Promise.all(nodes.names.map(nodes.stop));
  loseLog(position, { cluster, ...known });
  receivers.startAgain();
  postgres.crash();
  postgres.goBackTo(copy, 'personal_data');
  // As content/docs/personal-data.md says: unused keys in files may not be in the copy.
  rmSync(join(dataDir, 'unused-keys'), { recursive: true, force: true });
  await scheduler.sleep(forMs);
  postgres.start();
  await commands.destroyErased();
  for (const start of starts) start();
  await scheduler.sleep(startedMs);
  // The data folder has the last checkpoint of the log that was lost.
  await commands.acceptOlderLog();
}
