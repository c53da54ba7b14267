/** The process that tests kill in the middle of a rebuild of `payments`; tells how many events it has taken, and the end. */
import { connectEventStore } from '@ledger/event-store/client.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { rebuild } from '@ledger/projections/rebuild/rebuild.ts';
import { payments } from '../../src/projections/payments/projection.ts';
import { personalData } from '../support/personal-data.ts';
import { log } from './helpers.ts';

const [esdbUrl = '', databaseUrl = ''] = process.argv.slice(2);
await rebuild({
  projection: payments,
  eventStore: connectEventStore({ url: esdbUrl, log, runtime: systemRuntime }),
  db: connectPostgres({ url: databaseUrl, log }),
  databaseUrl,
  personalData,
  log,
  runtime: systemRuntime,
  signal: new AbortController().signal,
  onProgress: ({ events }) => process.send?.({ events }),
});
process.exit();
