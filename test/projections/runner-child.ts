/** The process that tests kill: runs projections on the stores named by its arguments, as long as its parent lives. */
import { connectEventStore } from '@ledger/event-store/client.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { runProjection } from '@ledger/projections/runtime/run.ts';
import { payments } from '../../src/projections/payments/projection.ts';
import { electionOn } from '../support/leader-election.ts';
import { personalData } from '../support/personal-data.ts';
import { eventCounts } from './event-counts.ts';
import { log } from './helpers.ts';

const [esdbUrl = '', databaseUrl = ''] = process.argv.slice(2);
const eventStore = connectEventStore({ url: esdbUrl, log, runtime: systemRuntime });
const db = connectPostgres({ url: databaseUrl, log });
const election = electionOn(databaseUrl);
for (const projection of [payments, eventCounts])
  runProjection({ projection, eventStore, db, election, personalData, log, runtime: systemRuntime });
process.on('disconnect', () => process.exit());
