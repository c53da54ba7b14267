/**
 * What may change without a restart: the merchants, and the secrets of the gateway and of the land registry. Whoever holds
 * the configuration sees the change, because its values are replaced in place.
 */
import { statSync } from 'node:fs';
import type { Log } from '../kernel/log.ts';
import { reasonOf } from '../kernel/reason-of.ts';
import type { Runtime } from '../kernel/runtime.ts';
import type { Config } from './config.ts';
import { ConfigError } from './yaml-file.ts';

const lookEveryMs = 2_000;

export type Reloading = { reload(): void; stop(): Promise<void> };

/**
 * Loads the files again when one of them has changed, and when `reload` is called. If they are at fault, nothing changes;
 * the log and `config.refused` name the faults until the files are right. `load` throws ConfigError.
 */
export function keepConfigCurrent(
  config: Config,
  { load, log, runtime }: { load: () => Config; log: Log; runtime: Pick<Runtime, 'setTimer'> },
): Reloading {
  let seen = marksOf(config.files);
  let cancelTimer = () => {};

  function reload(): void {
    seen = marksOf(config.files);
    try {
      adopt(config, load());
      log.info('merchants and secrets were loaded again');
    } catch (error) {
      const faults = error instanceof ConfigError ? error.faults : [reasonOf(error)];
      config.refused.splice(0, Number.POSITIVE_INFINITY, ...faults);
      log.error({ faults }, 'the changed configuration is at fault: the one before stays');
    }
  }

  function look(): void {
    if (marksOf(config.files) !== seen) reload();
    cancelTimer = runtime.setTimer(lookEveryMs, look);
  }
  cancelTimer = runtime.setTimer(lookEveryMs, look);
  return {
    reload,
    async stop() {
      cancelTimer();
    },
  };
}

/** Changes when one of the files is written or replaced, also behind a link, as Kubernetes does. */
function marksOf(files: readonly string[]): string {
  const marks = files.map((file) => {
    const found = statSync(file, { throwIfNoEntry: false });
    return found && [file, found.mtimeMs, found.ino, found.size];
  });
  return JSON.stringify(marks);
}

function adopt(config: Config, fresh: Config): void {
  config.merchants.clear();
  for (const [code, merchant] of fresh.merchants) config.merchants.set(code, merchant);
  Object.assign(config.gateway, fresh.gateway);
  for (const list of ['landregAccessKeys', 'files', 'refused'] as const)
    config[list].splice(0, Number.POSITIVE_INFINITY, ...fresh[list]);
}
