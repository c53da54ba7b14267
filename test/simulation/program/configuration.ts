/** The configuration of the simulated processes: as in production, with addresses of the simulated network. */
import { fileURLToPath } from 'node:url';
import { type Config, loadConfig as loadOurs } from '../../../src/config/config.ts';
import { firstKeys, type Keys, variablesOf } from './keys.ts';

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export const gatewaySecret = 'the gateway secret of the simulation';
export const registryToken = 'the registry token of the simulation';
export const apiKeyOf = (merchant: string): string => `the-key-of-${merchant}`;
export const landRegistryKey = 'the-access-key-of-the-land-registry';
export const landRegistryToken = 'the-access-token-of-the-land-registry';
/** Those of the merchants file. */
export const webhookSecretsOf = (merchant: string): readonly string[] =>
  ['council', 'museum'].includes(merchant)
    ? [`whsec_${Buffer.alloc(32, `secret of ${merchant}`).toString('base64')}`]
    : [];
export const transactionIdKey = 'the transaction key of the simulation';
/** The one that is removed from the merchants file at times. */
export const removable = 'museum';
/** The last is an agency of the land registry, which requests its payments and takes its callbacks. */
export const merchants = ['council', 'museum', 'library', 'land'] as const;

/** Everything but the name of the machine is the same for all processes. */
export function configurationOf(
  name: string,
  {
    dataDir,
    eventStoreUrl,
    hasWrongKey = false,
    isRemoved = false,
    retentionDays,
    verifyAt = 'off',
    witnessUrls = [],
    keys = firstKeys,
    loadConfig = loadOurs,
  }: {
    dataDir: string;
    eventStoreUrl: string;
    hasWrongKey?: boolean;
    /** The merchants file lacks `removable`. */
    isRemoved?: boolean;
    retentionDays?: number | undefined;
    verifyAt?: string | undefined;
    witnessUrls?: readonly string[];
    keys?: Keys;
    /** Of the release that is configured. */
    loadConfig?: typeof loadOurs;
  },
): Config {
  return loadConfig(
    {
      NODE_ENV: 'test',
      HOST: name,
      PORT: '80',
      BASE_URL: 'http://pay.example',
      DATA_DIR: dataDir,
      ESDB_URL: eventStoreUrl,
      DATABASE_URL: 'postgres://ledger@postgres:5432/ledger',
      MERCHANTS_FILE: file(isRemoved ? 'merchants-without-museum.yaml' : 'merchants.yaml'),
      PAYMENT_METHODS_FILE: file('payment-methods.yaml'),
      TRANSACTION_ID_KEY: hasWrongKey ? 'another key, by mistake' : transactionIdKey,
      GATEWAY_URL: 'http://gateway.example/pay',
      GATEWAY_SECRET: gatewaySecret,
      REGISTRY_URL: 'http://registry.example',
      REGISTRY_TOKEN: registryToken,
      LANDREG_ACCESS_KEY: landRegistryKey,
      LANDREG_BASE_URL: 'http://land.example',
      LANDREG_CALLBACK_PATH: '/payments',
      LANDREG_ACCESS_TOKEN: landRegistryToken,
      ...variablesOf(keys),
      VERIFY_SCHEDULE: verifyAt,
      LOG_LEVEL: 'warn',
      SANDBOX: 'false',
      ...(witnessUrls.length > 0 && { WITNESS_URLS: witnessUrls.join(',') }),
      ...(retentionDays && { RETENTION: `${retentionDays}d` }),
      CALLBACK_RETRY_SCHEDULE: '0s,5s,1m,10m,30m,1h',
    },
    {},
    { seals: true },
  );
}
