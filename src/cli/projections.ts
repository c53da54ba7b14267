/** `ledger projections`: the role that keeps the read models, and seals the log. */
import { sealKeyOf } from '../audit/seal-key.ts';
import { startSealer } from '../audit/sealer.ts';
import type { Config } from '../config.ts';
import { connectEventStore } from '../eventstore/client.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { createLog, type Log } from '../log.ts';
import { allProjections } from '../projections/all.ts';
import { connectDatabase } from '../projections/database.ts';
import { runProjection } from '../projections/run.ts';
import { type Command, type Running, runUntilSignal, stopAll } from './command.ts';
import { loadRoleConfig } from './role-config.ts';

/**
 * Starts every projection and the sealer; each waits for its stores by itself, and stands by while another process leads it. Only one
 * connection of a process can append: it is shared.
 */
export function startProjections(config: Config, eventStore: EventStore, log: Log): Running {
  const db = connectDatabase({ url: config.databaseUrl, log });
  const runs = allProjections.map((projection) =>
    runProjection({ projection, eventStore, db, databaseUrl: config.databaseUrl, log }),
  );
  const sealer = startSealer({
    eventStore,
    databaseUrl: config.databaseUrl,
    key: sealKeyOf(config.sealKey),
    clock: () => new Date(),
    log,
  });
  return {
    async stop() {
      await Promise.all([...runs.map((run) => run.stop()), sealer.stop()]);
      await db.destroy();
    },
  };
}

export const projections: Command = {
  summary: 'the role that keeps the read models and seals the log',
  usage: '',
  options: {},
  run() {
    const config = loadRoleConfig({ seals: true });
    const log = createLog(config.logLevel, 'projections');
    return runUntilSignal(log, async () => {
      const eventStore = connectEventStore({ url: config.esdbUrl, log });
      const role = startProjections(config, eventStore, log);
      return { stop: () => stopAll([{ stop: eventStore.close }, role]) };
    });
  },
};
