/** One deployment for all tests of the file, one after the other, and the registry that it asks. */
import { connectEventStore } from '@ledger/event-store/client.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { startRegistry } from '../../support/registry.ts';
import { wholeFile } from '../../support/whole-file.ts';
import { log, startDeployment } from '../ledger.ts';

export const registry = await startRegistry(wholeFile);
export const ledger = await startDeployment(wholeFile, { REGISTRY_URL: registry.url });
export const eventStore = connectEventStore({ url: ledger.esdbUrl, log, runtime: systemRuntime });
wholeFile.teardown(() => eventStore.close());
