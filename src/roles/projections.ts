/** `ledger projections`: the role that keeps the read models, rebuilds them on request, seals the log, and checks it all. */
import { join } from 'node:path';
import type { Background } from '@ledger/kernel/run-until-stopped.ts';
import { createMailer } from '@ledger/outbound/mailer.ts';
import { createLeaderElection } from '@ledger/postgres/leader-election.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import { runProjection } from '@ledger/projections/runtime/run.ts';
import { createSharedReader } from '@ledger/projections/runtime/shared-reader.ts';
import { createSharedTransaction } from '@ledger/projections/runtime/shared-transaction.ts';
import { sealKeyOf } from '@ledger/transparency-log/key.ts';
import { offerTo } from '@ledger/transparency-log/offer-to-witnesses.ts';
import { startDailyVerify, startHourlyCheck } from '../audit/background-check/schedule.ts';
import { keptCheckpoints, lastCheckpointFile } from '../audit/seals/kept-checkpoints.ts';
import { startSealer } from '../audit/seals/sealer.ts';
import { streamPrefixes } from '../events/streams.ts';
import { createErasedKeys } from '../personal-data/erased-keys.ts';
import { startRetention } from '../personal-data/retention.ts';
import { allProjections } from '../projections/all.ts';
import { startRequests } from '../reactors/projection-requests/watch.ts';
import { recipientsIn, startStaffEmail } from '../reactors/staff/staff-email.ts';
import { rebuildInProcess, verifyInProcess } from './children.ts';
import { createEraser } from './eraser.ts';
import type { Running } from './lifecycle.ts';
import { roleCommand } from './role-command.ts';
import type { RoleDependencies } from './stores.ts';

/**
 * Starts every projection, the sealer, the checks, what erases by itself, and the email to staff. Each waits for its
 * stores, and stands by while another process leads. Over 70 lines: a list of what the role starts.
 */
export function startProjections(role: RoleDependencies): Running {
  const { clock, config, eventStore, log, personalData, runtime } = role;
  const { baseUrl, databaseUrl, dataDir, mail, staffAlertsTo, verifyAt } = config;
  void clock.start();
  const db = connectPostgres({ url: databaseUrl, log });
  const runs = new Map<string, Background>();
  const halted = new Set<string>();
  const reader = createSharedReader(eventStore, { streamPrefixes });
  const election = createLeaderElection({ databaseUrl, runtime });
  const common = { ...role, db, databaseUrl, election };
  // Under load, rows lag by this much: most of a batch's cost is the same for one event and for many.
  const everyMs = 200;
  const transaction = createSharedTransaction(db, runtime);
  const following = { ...common, eventStore: reader, everyMs, transaction };
  const launch = (projection: Projection) => {
    const run = runProjection({ projection, ...following });
    runs.set(projection.name, run);
    void run.ended.then(() => halted.add(projection.name));
  };
  for (const projection of allProjections) launch(projection);
  const sealer = startSealer({
    ...common,
    eventStore: reader,
    kept: keptCheckpoints(db, join(config.dataDir, lastCheckpointFile)),
    origin: `${new URL(config.baseUrl).host}/ledger`,
    keys: () => ({
      current: sealKeyOf(config.sealKeys.current),
      previous: config.sealKeys.previous === '' ? null : sealKeyOf(config.sealKeys.previous),
    }),
    ...(config.witnessUrls.length > 0 && {
      offer: offerTo(config.witnessUrls, { post: fetch, runtime, log }),
    }),
  });
  // Here, because only the owner of the tables may drop what a rebuild has left.
  const eraser = createEraser(role, db);
  const { differenceMs } = clock;
  const retention = startRetention({ ...common, ...eraser, differenceMs, retention: config.retention });
  const erasedKeysList = createErasedKeys({ store: personalData.store, log });
  const erasedKeys = runProjection({ ...common, eventStore: reader, projection: erasedKeysList });
  const requests = startRequests({
    ...common,
    eventStore: reader,
    projections: [...allProjections, erasedKeysList],
    rebuild: ({ name }, signal) => rebuildInProcess({ databaseUrl, name, runtime, signal }),
    // With new tables, a projection that has halted may be able to continue.
    onRebuilt(projection) {
      if (halted.delete(projection.name)) launch(projection);
    },
  });
  const hourly = startHourlyCheck(common);
  const daily =
    verifyAt === 'off' ? [] : [startDailyVerify({ ...common, at: verifyAt, verify: verifyInProcess })];
  const staffEmail = startStaffEmail({
    ...common,
    baseUrl,
    mailer: createMailer({ mail, outboxDir: join(dataDir, 'outbox'), runtime }),
    recipients: async () => (staffAlertsTo.length > 0 ? staffAlertsTo : await recipientsIn(db)),
  });
  return {
    async stop() {
      // First, because it may start projections.
      await requests.stop();
      await Promise.all(
        [...runs.values(), sealer, erasedKeys, hourly, ...daily, retention, staffEmail].map((each) =>
          each.stop(),
        ),
      );
      await db.destroy();
    },
  };
}

export const command = roleCommand('projections', startProjections);
