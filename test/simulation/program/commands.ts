/** The commands that the program starts in processes of their own. Each takes what the command line would give it. */
import type { Log } from '@ledger/kernel/log.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { leadNow } from '@ledger/postgres/leader-election.ts';
import { longestStatementMs } from '@ledger/projections/runtime/tables.ts';
import type { VerifyReport } from '../../../src/audit/verify/verify.ts';
import { verifyAsAsked } from '../../../src/cli/verify.ts';
import type { Config } from '../../../src/config/config.ts';
import { allProjections } from '../../../src/projections/all.ts';
import { rebuildAsRequested } from '../../../src/reactors/projection-requests/perform.ts';
import { type OpenStores, openStores } from '../../../src/roles/stores.ts';

type Given = { log: Log; runtime: Runtime; signal: AbortSignal };

/**
 * `ledger verify --record`. Null if another process verifies at the same time. Throws the signal's reason and the stores'
 * errors.
 */
export const verifyAndRecord = (config: Config, given: Given): Promise<VerifyReport | null> =>
  withStores(config, given, (stores) =>
    leadNow({ ...stores, name: 'verify', signal: given.signal }, (signal) =>
      verifyAsAsked(
        stores,
        { given: null, since: null, witnesses: null, record: true, signal },
        () => undefined,
      ),
    ),
  );

/** `ledger rebuild --requested`. Throws the stores' errors. */
export const performRequested = (config: Config, name: string, given: Given): Promise<void> =>
  withStores(config, given, async (stores) => {
    const { signal } = given;
    for (const projection of allProjections)
      if (projection.name === name) await rebuildAsRequested({ ...stores, projection, signal });
  });

async function withStores<Result>(
  config: Config,
  { log, runtime }: Given,
  work: (stores: OpenStores) => Promise<Result>,
): Promise<Result> {
  const stores = openStores(config, log, runtime, { longestQueryMs: longestStatementMs });
  try {
    await stores.clock.start();
    return await work(stores);
  } finally {
    await stores.stop();
  }
}
