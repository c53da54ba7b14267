/** What a process opens once, and modules are given a part of: `Pick<Stores<'load'>, 'db' | 'eventStore'>`. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import type { Log } from '@ledger/kernel/log.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { PersonalDataReader } from '@ledger/personal-data/sealed.ts';
import type { Knex } from 'knex';

/** `Calls` are the functions of the event store that the module uses. */
export type Stores<Calls extends keyof EventStore = never> = {
  db: Knex;
  eventStore: Pick<EventStore, Calls>;
  log: Log;
  personalData: PersonalDataReader;
  runtime: Runtime;
};
