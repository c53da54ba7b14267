/** The configuration of a command that runs beside `ledger serve`, on the embedded stores where no URL is given. */
import { readEndpoints } from '@ledger/embedded/endpoints.ts';
import { type Config, loadConfig } from '../config/config.ts';

/** Throws ConfigError and StartError. In production nothing is read from a data folder. */
export function loadRoleConfig(needs?: { seals: boolean }): Config {
  const { NODE_ENV, DATA_DIR } = process.env;
  // As with every variable, empty means not set.
  const dataDir = DATA_DIR?.trim() || './data';
  return loadConfig(process.env, NODE_ENV?.trim() === 'production' ? {} : readEndpoints(dataDir), needs);
}
