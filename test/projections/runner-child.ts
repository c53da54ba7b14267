/** The process that tests kill: runs projections on the stores named by its arguments until SIGTERM or its parent ends it. */
import { connectEventStore } from '../../src/eventstore/client.ts';
import { connectDatabase } from '../../src/projections/database.ts';
import { payments } from '../../src/projections/payments.ts';
import { runProjection } from '../../src/projections/run.ts';
import { eventCounts } from './event-counts.ts';
import { log } from './helpers.ts';

const [esdbUrl = '', databaseUrl = ''] = process.argv.slice(2);
const eventStore = connectEventStore({ url: esdbUrl, log });
const db = connectDatabase({ url: databaseUrl, log });
const runs = [payments, eventCounts].map((projection) =>
  runProjection({ projection, eventStore, db, databaseUrl, log }),
);
process.on('disconnect', () => process.exit());
process.once('SIGTERM', async () => {
  await Promise.all(runs.map((run) => run.stop()));
  await Promise.all([eventStore.close(), db.destroy()]);
  process.disconnect();
});
