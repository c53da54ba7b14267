/** The content service on real parts: an event store and a Postgres that may be frozen, and the projections that run. */
import { connectEventStore } from '@ledger/event-store/client.ts';
import type { Background } from '@ledger/kernel/run-until-stopped.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { isReadOnly } from '@ledger/postgres/requirements.ts';
import { projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import { createListQueries } from '@ledger/projections/runtime/list-projection.ts';
import type { ExecutionContext } from 'ava';
import type { Project } from '../../../src/events/project.ts';
import type { Account } from '../../../src/events/user.ts';
import { projects } from '../../../src/projections/projects/projection.ts';
import { users } from '../../../src/projections/users/projection.ts';
import { until } from '../../embedded/helpers.ts';
import { startServer } from '../../event-store/helpers.ts';
import { log, type Postgres, run } from '../../projections/helpers.ts';
import { type Changes, startApp, type TestApp } from '../../support/app.ts';
import type { Server } from '../../support/event-store.ts';
import { readOnce } from '../../support/read-once.ts';
import { testRuntime } from '../../support/runtime.ts';

export type Service = TestApp & {
  databaseUrl: string;
  runs: Background[];
  /** Runs users and projects until the test is over at the latest; resolves when both have begun. */
  runProjections(): Promise<void>;
  api(path: string, init?: RequestInit): Promise<Response>;
  /** Posts a user; a string is sent as it is. */
  postUser(body: unknown, headers?: Record<string, string>): Promise<Response>;
};

/** Starts everything anew, on an empty database and event store, or on `server`. Tests that use it run one after the other. */
export async function startService(
  t: ExecutionContext,
  postgres: Postgres,
  changes: Changes = {},
  server?: Server,
): Promise<Service> {
  const db = connectPostgres({ url: postgres.url, log });
  await db.raw('drop schema if exists users, projects cascade; drop table if exists checkpoints');
  const { url } = server ?? (await startServer(t));
  const runtime = testRuntime(changes.monotonicMs && { monotonicMs: changes.monotonicMs });
  const connected = connectEventStore({ url, log, runtime });
  const eventStore = server ? connected : readOnce(connected);
  const runs: Background[] = [];
  const app = await startApp(
    {
      ...changes,
      content: {
        users: createListQueries<Account>(db, users.name),
        projects: createListQueries<Project>(db, projects.name),
        projections: [users, projects],
        projectionStatus: () => projectionStatus(db),
        isReadOnly: () => isReadOnly(db),
        version: '1.2.3',
        ...changes.content,
      },
    },
    { eventStore },
  );
  t.teardown(async () => {
    await app.close();
    await Promise.all([eventStore.close(), db.destroy()]);
  });
  const api = (path: string, init?: RequestInit) => fetch(`${app.url}/api/v1${path}`, init);
  return {
    ...app,
    databaseUrl: postgres.url,
    runs,
    async runProjections() {
      for (const projection of [users, projects])
        runs.push(run(t, projection, app, { db, url: postgres.url }));
      for (const { name } of [users, projects]) {
        const { has } = createListQueries(db, name);
        await until(() =>
          has('').then(
            () => true,
            () => false,
          ),
        );
      }
    },
    api,
    postUser: (body, headers = {}) =>
      api('/users', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  };
}

export const aminah = { name: 'Aminah binti Ismail', email: 'Aminah@agency.example', role: 'admin' };
