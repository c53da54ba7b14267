/** The reactor that tests kill: the land registry's items on the stores named by its arguments, as long as its parent lives. */
import { connectEventStore } from '@ledger/event-store/client.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { log } from './helpers.ts';
import { startItems } from './land-registry.ts';

const [esdbUrl = '', databaseUrl = '', callbackUrl = ''] = process.argv.slice(2);
const eventStore = connectEventStore({ url: esdbUrl, log, runtime: systemRuntime });
const db = connectPostgres({ url: databaseUrl, log });
startItems(
  { teardown: () => undefined },
  {
    store: { url: esdbUrl, eventStore },
    database: { url: databaseUrl, db },
    clock: { now: () => new Date(), set: () => undefined },
  },
  callbackUrl,
  { leaseMs: 60_000 },
);
process.on('disconnect', () => process.exit());
process.send?.('ready');
