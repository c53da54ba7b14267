/** A process that leads until it loses the lead. */
import { once } from 'node:events';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { createLeaderElection } from '@ledger/postgres/leader-election.ts';

const [databaseUrl = ''] = process.argv.slice(2);
const { signal } = new AbortController();
await createLeaderElection({ databaseUrl, runtime: systemRuntime })
  .lead('work', { signal }, async (leading) => {
    process.send?.('leads');
    await once(leading, 'abort');
  })
  .catch(() => process.send?.('lost'));
process.disconnect();
