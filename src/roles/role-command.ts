/** The command that runs one role in a process of its own. */
import { createLog } from '@ledger/kernel/log.ts';
import type { CommandOf } from '../cli/command.ts';
import { followFiles, type Running, runUntilSignal, warnOfRisks } from './lifecycle.ts';
import { type RoleName, startMonitoring } from './monitoring.ts';
import { assertStores, firstToStop, loadRoleConfig, openStores, type RoleDependencies } from './stores.ts';

export function roleCommand(
  name: RoleName,
  start: (dependencies: RoleDependencies) => Running | Promise<Running>,
): CommandOf<RoleName> {
  return () => {
    const load = () => loadRoleConfig({ seals: name === 'projections' });
    const config = load();
    const log = createLog(config.logLevel, name);
    warnOfRisks(config, log);
    return runUntilSignal(log, async (started) => {
      started(followFiles(config, load, log));
      await assertStores(config);
      const stores = started(openStores(config, log));
      const monitoring = started(await startMonitoring(stores, { name, roles: [name] }));
      started(await start(monitoring.role));
      monitoring.enter('running');
      started(firstToStop(monitoring, config.databaseUrl));
    });
  };
}
