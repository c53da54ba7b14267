/** All roles in one process, as `ledger serve` runs them once their stores run. */
import type { Log } from '@ledger/kernel/log.ts';
import { registerSampleProjects } from '../cli/projects.ts';
import type { Config } from '../config/config.ts';
import { startHttp } from './http.ts';
import type { Started } from './lifecycle.ts';
import { startMonitoring } from './monitoring.ts';
import { startProjections } from './projections.ts';
import { startReactors } from './reactors.ts';
import { assertStores, firstToStop, openStores } from './stores.ts';

/**
 * Passes to `started` each part that is to be stopped, as soon as it runs. `silent` are the stores that did not answer.
 * Throws ConfigError if a store cannot serve.
 */
export async function startAllRoles(config: Config, log: Log, started: Started) {
  const silent = await assertStores(config);
  const opened = started(openStores(config, log));
  const roles = ['http', 'projections', 'reactors'] as const;
  const monitoring = started(await startMonitoring(opened, { name: 'serve', roles }));
  const { role } = monitoring;
  started(startProjections(role));
  if (!config.production)
    await registerSampleProjects(role).catch((err: unknown) =>
      log.warn({ err }, 'the sample projects could not be registered'),
    );
  started(startReactors(role));
  const { port } = started(await startHttp(role));
  monitoring.enter('running');
  started(firstToStop(monitoring, config.databaseUrl));
  return { port, adminPort: monitoring.port, silent };
}
