/** What the process does that the program starts for the daily verification: `ledger verify --record`. */
import type { Log } from '@ledger/kernel/log.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { leadNow } from '@ledger/postgres/leader-election.ts';
import { longestStatementMs } from '@ledger/projections/runtime/tables.ts';
import type { VerifyReport } from '../../../src/audit/verify/verify.ts';
import { verifyAsAsked } from '../../../src/cli/verify.ts';
import type { Config } from '../../../src/config/config.ts';
import { openStores } from '../../../src/roles/stores.ts';

/** Null if another process verifies at the same time. Throws the signal's reason and the stores' errors. */
export async function verifyAndRecord(
  config: Config,
  { log, runtime, signal }: { log: Log; runtime: Runtime; signal: AbortSignal },
): Promise<VerifyReport | null> {
  const stores = openStores(config, log, runtime, { longestQueryMs: longestStatementMs });
  const asked = { given: null, since: null, witnesses: null, record: true };
  try {
    await stores.clock.start();
    return await leadNow({ ...stores, name: 'verify', signal }, (leading) =>
      verifyAsAsked(stores, { ...asked, signal: leading }, () => undefined),
    );
  } finally {
    await stores.stop();
  }
}
