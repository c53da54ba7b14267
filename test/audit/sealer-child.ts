/** The process that tests kill: seals the log of the stores named by its arguments, as long as its parent lives. */
import { connectEventStore } from '@ledger/event-store/client.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { startSealer } from '../../src/audit/seals/sealer.ts';
import { log } from '../projections/helpers.ts';
import { key, sealing } from './ledger.ts';

const [esdbUrl = '', databaseUrl = '', everyEvents = '', folder = ''] = process.argv.slice(2);
const eventStore = connectEventStore({ url: esdbUrl, log, runtime: systemRuntime });
const keys = () => ({ current: key, previous: null });
const pace = { everyEvents: Number(everyEvents), everyMs: 50 };
startSealer({ ...sealing(databaseUrl, folder), eventStore, keys, runtime: systemRuntime, log, pace });
process.on('disconnect', () => process.exit());
