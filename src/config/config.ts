/**
 * The environment, read once at boot. Every fault is reported at once, by the variable's name and never with
 * its value; production refuses insecure defaults.
 */
import { hostname } from 'node:os';
import { type LogLevel, logLevels } from '../kernel/log.ts';
import { parseAmount, type Sen } from '../kernel/money.ts';
import { readApiKeys, readLandregAccessKey } from './api-keys.ts';
import { type CallbackConfig, readCallbacks } from './callbacks.ts';
import { ConfigError } from './config-error.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { type LandRegistryConfig, readLandRegistry } from './land-registry.ts';
import { type MailConfig, readMail } from './mail.ts';
import { loadMerchants, type Merchant } from './merchants.ts';
import { loadPaymentMethods, type PaymentMethods } from './payment-methods.ts';
import { readSealKey } from './seal-key.ts';
import type { VariableName } from './variables.ts';

export type Config = {
  production: boolean;
  /** The running environment's name, as /generic/check reports it. */
  environment: string;
  host: string;
  port: number;
  /** No trailing slash. */
  baseUrl: string;
  dataDir: string;
  esdbUrl: string;
  databaseUrl: string;
  merchants: ReadonlyMap<string, Merchant>;
  methods: PaymentMethods;
  transactionIdKey: string;
  /** Seals of the log are signed with it: 64 hexadecimal digits, or `''` in a process that seals nothing. */
  sealKey: string;
  maxAmountSen: Sen;
  gateway: {
    url: string;
    secret: string;
    /** Development without a secret of its own: a result without CHECKSUM is taken, and marked unverified. */
    acceptUnsigned: boolean;
  };
  /** Asked by requery; `scheduled` is whether it is also asked by itself about payments that were left open. */
  registry: { url: string; token: string; scheduled: boolean };
  callbacks: CallbackConfig;
  /** Null: nobody told us where it is, and its callbacks wait. */
  landRegistry: LandRegistryConfig | null;
  mail: MailConfig;
  /** Of /api/v1, which is open where there are none. */
  apiKeys: readonly string[];
  /** The Bearer key with which the land registry calls /landreg; `''` in production without agencies: none is taken. */
  landregAccessKey: string;
  sandbox: { enabled: boolean; port: number };
  logLevel: LogLevel;
};

/**
 * Reads the configuration. `provided` holds what the embedded parts of `ledger serve` supply (store addresses,
 * generated keys); the environment wins over it. A process that `seals` the log cannot do without SEAL_KEY, and no other
 * needs it. Throws ConfigError naming every fault.
 */
export function loadConfig(
  environment: Environment,
  provided: Environment = {},
  { seals }: { seals: boolean } = { seals: false },
): Config {
  const env = readEnvironment(environment, provided);
  const production = env.oneOf('NODE_ENV', ['development', 'production', 'test']) === 'production';
  const secret = (name: VariableName, why: string): string => {
    const found = env.required(name, why);
    if (production && found !== '' && found.length < 32)
      env.faults.push(`${name} must have at least 32 characters in production`);
    return found;
  };

  const host = env.text('HOST');
  const port = env.port('PORT');
  const baseUrl = env.url(
    'BASE_URL',
    env.text('BASE_URL', `http://${linkHost(host)}:${port}`),
    'http:',
    'https:',
  );
  if (production && !baseUrl.startsWith('https://'))
    env.faults.push('BASE_URL must be the public address, with https://, in production');
  const esdbUrl = env.required('ESDB_URL', 'esdb://…, or start with `ledger serve`, which brings its own');
  if (esdbUrl !== '' && !/^esdb(\+discover)?:\/\//.test(esdbUrl))
    env.faults.push('ESDB_URL must be a connection string that begins with esdb:// or esdb+discover://');
  const databaseUrl = env.required(
    'DATABASE_URL',
    'postgres://…, or start with `ledger serve`, which brings its own',
  );
  const maxAmountSen = parseAmount(env.text('MAX_AMOUNT_RM'), 99_999_999_999 as Sen);
  if (typeof maxAmountSen === 'string')
    env.faults.push('MAX_AMOUNT_RM must be an amount in RM such as 1000000.00');

  const merchants = env.file(
    () => loadMerchants(env.text('MERCHANTS_FILE'), production),
    new Map<string, Merchant>(),
  );
  const hasAgencies = [...merchants.values()].some(({ branchCode }) => branchCode !== '');
  const callbacks = readCallbacks(env, production);

  const config: Config = {
    production,
    environment: env.text('ENVIRONMENT_NAME', production ? 'production' : 'development'),
    host,
    port,
    baseUrl,
    dataDir: env.text('DATA_DIR'),
    esdbUrl,
    databaseUrl: env.url('DATABASE_URL', databaseUrl, 'postgres:', 'postgresql:'),
    merchants,
    methods: env.file(() => loadPaymentMethods(env.text('PAYMENT_METHODS_FILE')), new Map()),
    transactionIdKey: secret('TRANSACTION_ID_KEY', 'every transaction id is derived from it, for life'),
    sealKey: readSealKey(env, seals),
    maxAmountSen: typeof maxAmountSen === 'string' ? (0 as Sen) : maxAmountSen,
    gateway: {
      url: env.url(
        'GATEWAY_URL',
        env.required('GATEWAY_URL', 'payers are sent there'),
        // A payer's name and the amount go there through a browser.
        ...(production ? ['https:'] : ['http:', 'https:']),
      ),
      secret: secret('GATEWAY_SECRET', 'gateway results are verified with it'),
      acceptUnsigned: !production && env.given('GATEWAY_SECRET') === undefined,
    },
    registry: {
      url: env.url('REGISTRY_URL', env.required('REGISTRY_URL', 'requery asks it'), 'http:', 'https:'),
      token: env.required('REGISTRY_TOKEN', 'the registry knows us by it'),
      scheduled: env.oneOf('REQUERY_SCHEDULE', ['on', 'off']) === 'on',
    },
    callbacks,
    landRegistry: readLandRegistry(env, { ...callbacks, production, hasAgencies }),
    mail: readMail(env, production),
    apiKeys: readApiKeys(env, production),
    landregAccessKey: readLandregAccessKey(env, { production, hasAgencies }),
    sandbox: {
      enabled: env.oneOf('SANDBOX', ['true', 'false'], production ? 'false' : 'true') === 'true',
      port: env.port('SANDBOX_PORT', port === 0 ? 0 : port + 1),
    },
    logLevel: env.oneOf('LOG_LEVEL', logLevels),
  };
  if (env.faults.length > 0) throw new ConfigError(env.faults);
  return config;
}

/** The name under which this machine reaches a server bound to `host`. */
function linkHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return hostname();
  return host === '127.0.0.1' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
}
