/** The configuration of a role that runs on its own, beside the embedded stores of `ledger serve` where no URL is given. */

import { readEndpoints } from '@ledger/embedded/endpoints.ts';
import { type Config, loadConfig } from '../config/config.ts';

/** Throws ConfigError and StartError. Production takes nothing from a data folder: what is not set is a fault. */
export function loadRoleConfig(needs?: { seals: boolean }): Config {
  const { NODE_ENV, DATA_DIR } = process.env;
  // As for every variable, an empty one is not set.
  const dataDir = DATA_DIR?.trim() || './data';
  return loadConfig(process.env, NODE_ENV?.trim() === 'production' ? {} : readEndpoints(dataDir), needs);
}
