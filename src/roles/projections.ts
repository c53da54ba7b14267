/** `ledger projections`: the role that keeps the read models, and seals the log. */
import { sealKeyOf } from '../audit/seals/key.ts';
import { startSealer } from '../audit/seals/sealer.ts';
import { type Command, type Running, runUntilSignal, stopAll } from '../cli/command.ts';
import type { Config } from '../config/config.ts';
import { connectEventStore } from '../eventstore/client.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { createLog, type Log } from '../kernel/log.ts';
import { systemRuntime } from '../kernel/system-runtime.ts';
import { connectPostgres } from '../postgres/pool.ts';
import { allProjections } from '../projections/all.ts';
import type { Projection } from '../projections/runtime/projection.ts';
import { type ProjectionRun, runProjection } from '../projections/runtime/run.ts';
import { startRebuilds } from '../reactors/rebuilds/watch.ts';
import { rebuildInProcess } from './rebuild-process.ts';
import { loadRoleConfig } from './role-config.ts';

/**
 * Starts every projection and the sealer; each waits for its stores by itself, and stands by while another process leads it. Only one
 * connection of a process can append: it is shared.
 */
export function startProjections(config: Config, eventStore: EventStore, log: Log): Running {
  const db = connectPostgres({ url: config.databaseUrl, log });
  const { databaseUrl } = config;
  const runs = keepRunning((projection) => runProjection({ projection, eventStore, db, databaseUrl, log }));
  const rebuilds = startRebuilds({
    projections: allProjections.map(({ name }) => name),
    eventStore,
    log,
    takeUp: (name, signal) => rebuildInProcess(name, { config, log, signal }),
    onRebuilt: runs.goOn,
  });
  const sealer = startSealer({
    eventStore,
    databaseUrl,
    key: sealKeyOf(config.sealKey),
    clock: () => new Date(),
    log,
  });
  return {
    async stop() {
      // First, because it may start runs.
      await rebuilds.stop();
      await Promise.all([runs.stop(), sealer.stop()]);
      await db.destroy();
    },
  };
}

/** `goOn` starts a projection again that stood still: with new tables it may take what it could not before. */
function keepRunning(start: (projection: Projection) => ProjectionRun) {
  const runs = new Map<string, ProjectionRun>();
  const stoodStill = new Set<string>();
  const launch = (projection: Projection) => {
    const run = start(projection);
    runs.set(projection.name, run);
    void run.ended.then(() => stoodStill.add(projection.name));
  };
  for (const projection of allProjections) launch(projection);
  return {
    goOn(name: string): void {
      const projection = allProjections.find((each) => each.name === name);
      if (projection && stoodStill.delete(name)) launch(projection);
    },
    async stop(): Promise<void> {
      await Promise.all([...runs.values()].map((run) => run.stop()));
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
      const eventStore = connectEventStore({ url: config.esdbUrl, log, runtime: systemRuntime });
      const role = startProjections(config, eventStore, log);
      return { stop: () => stopAll([{ stop: eventStore.close }, role]) };
    });
  },
};
