/**
 * The environment, read once at boot. Every fault is reported at once, by the variable's name and never with
 * its value; production refuses insecure defaults.
 */
import { hostname } from 'node:os';
import { logLevels } from '../kernel/log.ts';
import { parseAmount, type Sen } from '../kernel/money.ts';
import { ConfigError } from './config-error.ts';
import { type Environment, type EnvironmentReader, readEnvironment } from './environment.ts';
import { loadMerchants, type Merchant } from './merchants.ts';
import { readCallbacks, readLandRegistry, readMail } from './outgoing.ts';
import { loadPaymentMethods, type PaymentMethods } from './payment-methods.ts';

export type Config = ReturnType<typeof readConfig>;

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
  const config = readConfig(env, seals);
  if (env.faults.length > 0) throw new ConfigError(env.faults);
  return config;
}

function readConfig(env: EnvironmentReader, seals: boolean) {
  const { production } = env;
  // Personal data and amounts pass through a browser to these.
  const httpUrls = production ? ['https:'] : ['http:', 'https:'];
  const secret = [production ? /.{32}/s : /./, 'have at least 32 characters in production'] as const;
  const host = env.text('HOST');
  const port = env.integer('PORT', 0, 65_535);
  const merchants: ReadonlyMap<string, Merchant> = env.file(
    () => loadMerchants(env.text('MERCHANTS_FILE'), production),
    new Map(),
  );
  const methods: PaymentMethods = env.file(
    () => loadPaymentMethods(env.text('PAYMENT_METHODS_FILE')),
    new Map(),
  );
  const hasAgencies = [...merchants.values()].some(({ branchCode }) => branchCode !== '');
  const callbacks = readCallbacks(env);
  return {
    production,
    /** The running environment's name, as /generic/check reports it. */
    environment: env.text('ENVIRONMENT_NAME', { fallback: production ? 'production' : 'development' }),
    host,
    port,
    baseUrl: env.url('BASE_URL', httpUrls, { fallback: `http://${linkHost(host)}:${port}` }),
    dataDir: env.text('DATA_DIR'),
    esdbUrl: env.text('ESDB_URL', { required: true, form: connectionString }),
    databaseUrl: env.url('DATABASE_URL', ['postgres:', 'postgresql:'], { required: true }),
    merchants,
    methods,
    transactionIdKey: env.text('TRANSACTION_ID_KEY', { required: true, form: secret }),
    /** Seals of the log are signed with it; `''` in a process that seals nothing. */
    sealKey: env.text('SEAL_KEY', { required: seals, form: [/^[0-9a-f]{64}$/i, 'be 64 hexadecimal digits'] }),
    maxAmountSen: readMaxAmount(env),
    gateway: {
      url: env.url('GATEWAY_URL', httpUrls, { required: true }),
      secret: env.text('GATEWAY_SECRET', { required: true, form: secret }),
      /** Development without a secret of its own: a result without CHECKSUM is taken, and marked unverified. */
      acceptUnsigned: !production && env.given('GATEWAY_SECRET') === undefined,
    },
    registry: {
      url: env.url('REGISTRY_URL', ['http:', 'https:'], { required: true }),
      token: env.text('REGISTRY_TOKEN', { required: true }),
      /** Whether it is also asked by schedule about payments that were left open. */
      scheduled: env.oneOf('REQUERY_SCHEDULE', ['on', 'off']) === 'on',
    },
    callbacks,
    /** Null: we were not told where it is, and its callbacks wait. */
    landRegistry: readLandRegistry(env, { ...callbacks, hasAgencies }),
    mail: readMail(env),
    /** The Bearer keys of /api/v1, each `sha256:<64 hex digits>` or plain; none leaves it open, but not in production. */
    apiKeys: readApiKeys(env),
    /** The Bearer key with which the land registry calls /landreg; with `''`, in production, nobody gets in. */
    landregAccessKey: env.text('LANDREG_ACCESS_KEY', {
      fallback: production ? '' : 'landreg-key',
      required: production && hasAgencies,
      form: [keyForm(production), `be ${keyWords(production)}, without blanks`],
    }),
    sandbox: {
      enabled: env.oneOf('SANDBOX', ['true', 'false'], production ? 'false' : 'true') === 'true',
      port: env.integer('SANDBOX_PORT', 0, 65_535, { fallback: String(port === 0 ? 0 : port + 1) }),
    },
    logLevel: env.oneOf('LOG_LEVEL', logLevels),
  };
}

const connectionString = [
  /^esdb(\+discover)?:\/\//,
  'be a connection string that begins with esdb:// or esdb+discover://',
] as const;

/** The name under which this machine reaches a server bound to `host`. */
function linkHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return hostname();
  return host === '127.0.0.1' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
}

function readMaxAmount(env: EnvironmentReader): Sen {
  const amount = parseAmount(env.text('MAX_AMOUNT_RM'), 99_999_999_999 as Sen);
  if (typeof amount === 'number') return amount;
  env.must('MAX_AMOUNT_RM', false, 'be an amount in RM such as 1000000.00');
  return 0 as Sen;
}

function readApiKeys(env: EnvironmentReader): readonly string[] {
  const { production } = env;
  const keys = env.list('API_KEYS', { required: production });
  const areKeys = keys.every((key) => keyForm(production).test(key));
  const isList = areKeys && (keys.length > 0 || env.given('API_KEYS') === undefined);
  env.must('API_KEYS', isList, `be a comma list, each ${keyWords(production)}`);
  return keys;
}

const minKeyLength = (production: boolean) => (production ? 32 : 6);
const keyForm = (production: boolean) =>
  new RegExp(`^(sha256:[0-9a-f]{64}|(?!sha256:)\\S{${minKeyLength(production)},200})$`);
const keyWords = (production: boolean) =>
  `sha256:<64 hex digits> or a key of at least ${minKeyLength(production)} characters`;
