/** Another process that appends one event: URL, stream and expected revision from the command line. */
import { connectEventStore } from '@ledger/event-store/client.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { newEvent } from './helpers.ts';

const [url = '', streamName = '', expected = ''] = process.argv.slice(2);
const silent = { info() {}, warn() {} };
const store = connectEventStore({ url, log: silent, runtime: systemRuntime });
await store.append(streamName, [newEvent()], expected === 'no_stream' ? expected : Number(expected));
await store.close();
