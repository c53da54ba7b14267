/** The command that runs one role in a process of its own. */
import { createLog } from '@ledger/kernel/log.ts';
import type { CommandOf } from '../cli/command.ts';
import { followFiles, type Running, runUntilSignal, stopAll, warnOfExceptions } from './lifecycle.ts';
import { type RoleName, startMonitoring } from './monitoring.ts';
import { assertStores, loadRoleConfig, openStores, type RoleDependencies } from './stores.ts';

export function roleCommand({
  name,
  seals = false,
  start,
}: {
  name: RoleName;
  /** Whether the role seals the log and therefore needs the key. */
  seals?: boolean;
  start(dependencies: RoleDependencies): Running | Promise<Running>;
}): CommandOf<RoleName> {
  return () => {
    const load = () => loadRoleConfig({ seals });
    const config = load();
    const log = createLog(config.logLevel, name);
    warnOfExceptions(config, log);
    return runUntilSignal(log, async () => {
      const running: Running[] = [followFiles(config, load, log)];
      try {
        await assertStores(config);
        const stores = openStores(config, log);
        running.push(stores);
        const monitoring = await startMonitoring(stores, { name, roles: [name] });
        running.push(monitoring, await start(monitoring.role));
        monitoring.enter('running');
        return {
          stop() {
            monitoring.enter('stopping');
            return stopAll(running);
          },
        };
      } catch (error) {
        // Their connections would keep the process from ending.
        await stopAll(running);
        throw error;
      }
    });
  };
}
