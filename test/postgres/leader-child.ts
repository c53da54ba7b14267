/** A process that leads until it loses the lead. */
import { once } from 'node:events';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { withLeaderLock } from '@ledger/postgres/leader-lock.ts';

const [databaseUrl = ''] = process.argv.slice(2);
const signal = new AbortController().signal;
await withLeaderLock({ databaseUrl, name: 'work', signal, runtime: systemRuntime }, async (leading) => {
  process.send?.('leads');
  await once(leading, 'abort');
}).catch(() => process.send?.('lost'));
process.disconnect();
