/**
 * What may change without a restart: merchants, payment methods, and the secrets that nothing stored depends on.
 * Everything that holds the configuration sees the change, because its values are replaced in place.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Log } from '@ledger/kernel/log.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import type { Config } from './config.ts';

/** Secrets that are read at the start alone. */
const fixed = {
  DATABASE_URL: 'databaseUrl',
  DATA_KEY: 'dataKeys',
  ESDB_URL: 'esdbUrl',
  LINK_KEY: 'linkKeys',
  TRANSACTION_ID_KEY: 'transactionIdKey',
} as const satisfies Record<string, keyof Config>;

/** If what `load` reads is invalid, nothing changes; the log and `config.refused` then name the faults. */
export function reloadConfig(config: Config, load: () => Config, log: Log): void {
  try {
    const fresh = load();
    // A file that was emptied by mistake would shut out every merchant. A start accepts it.
    if (config.merchants.size > 0 && fresh.merchants.size === 0)
      throw new ConfigError(
        ['MERCHANTS_FILE names no merchant any more; if that is meant, restart the process'],
        fresh.files,
      );
    config.merchants.clear();
    for (const [code, merchant] of fresh.merchants) config.merchants.set(code, merchant);
    config.methods = fresh.methods;
    for (const part of ['gateway', 'registry', 'mail', 'sealKeys'] as const)
      Object.assign(config[part], fresh[part]);
    if (config.landRegistry) Object.assign(config.landRegistry, fresh.landRegistry);
    for (const list of ['apiKeys', 'landregAccessKeys', 'files', 'refused'] as const)
      config[list].splice(0, Number.POSITIVE_INFINITY, ...fresh[list]);
    log.info('merchants, payment methods and secrets were loaded again');
    const changed = Object.entries(fixed).filter(([, name]) => !isDeepStrictEqual(config[name], fresh[name]));
    if (changed.length > 0)
      log.warn({ variables: changed.map(([name]) => name) }, 'a change of these requires a restart');
  } catch (error) {
    const { faults, files } =
      error instanceof ConfigError ? error : { faults: [reasonOf(error)], files: config.files };
    config.files.splice(0, Number.POSITIVE_INFINITY, ...new Set([...config.files, ...files]));
    config.refused.splice(0, Number.POSITIVE_INFINITY, ...faults);
    log.error({ faults }, 'the changed configuration is invalid: the previous one stays in use');
  }
}
