/**
 * The environment, read once at startup. All faults are reported together, by the variable's name and never with its
 * value; production refuses insecure defaults.
 */
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { deliverablePattern } from '@ledger/kernel/email-address.ts';
import type { Environment, Reading } from '@ledger/kernel/environment.ts';
import { logLevels } from '@ledger/kernel/log.ts';
import type { Period } from '@ledger/kernel/period.ts';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import type { LinkKeys } from '../common/link-keys.ts';
import { boundsOfDay } from '../common/malaysian-time.ts';
import { parseAmount, readAmount, type Sen } from '../common/money.ts';
import { readCallbacks, readLandRegistry, readMail } from './callbacks-and-mail.ts';
import { type EnvironmentReader, readEnvironment, type VariableName } from './environment-reader.ts';
import { keyForm, loadMerchants, namesBranch } from './merchants.ts';
import { loadPaymentMethods } from './payment-methods.ts';
import { checkEventStore, checkMail, checkPostgres, checkSecrets } from './security.ts';

export type Config = ReturnType<typeof readConfig>;

export type Needs = { seals?: boolean; uses?: readonly VariableName[] };

/**
 * Reads the configuration. `provided` holds what the embedded parts of `ledger serve` supply (store addresses,
 * generated keys); the environment overrides it. Only a process that `seals` the log needs SEAL_KEY. A command that `uses`
 * only some variables does not demand the others; what is read from those means nothing. Throws ConfigError naming every
 * fault.
 */
export function loadConfig(
  environment: Environment,
  provided: Environment = {},
  { seals = false, uses }: Needs = {},
): Config {
  const env = readEnvironment(environment, provided, uses && new Set(uses));
  const config = readConfig(env, seals);
  checkSecurity(env, config);
  if (env.faults.length > 0) throw new ConfigError(env.faults, env.files);
  return config;
}

/** Over 70 lines: it reads one variable after another, and nothing else. */
function readConfig(env: EnvironmentReader, seals: boolean) {
  const { production } = env;
  const host = env.text('HOST');
  const port = env.integer('PORT');
  const merchants = env.file(
    'MERCHANTS_FILE',
    (path) => loadMerchants(path, production, env.files),
    new Map(),
  );
  const methods = env.file('PAYMENT_METHODS_FILE', (path) => loadPaymentMethods(path, env.files), new Map());
  const hasAgencies =
    merchants.size === 0
      ? namesBranch(env.text('MERCHANTS_FILE'))
      : [...merchants.values()].some(({ branchCode }) => branchCode !== '');
  const callbacks = readCallbacks(env);
  const transactionIdKey = env.text('TRANSACTION_ID_KEY', { required: true });
  return {
    production,
    /** The running environment's name, as /generic/check reports it. */
    environment: env.text('ENVIRONMENT_NAME', { fallback: production ? 'production' : 'development' }),
    host,
    port,
    /** Where /metrics, /livez and /readyz are; `anyPort`: where the port is taken, another one will do. */
    admin: {
      host: env.text('ADMIN_HOST'),
      port: env.integer('ADMIN_PORT', { fallback: String(port === 0 ? 0 : (port + 2) % 65_536) }),
      anyPort: env.given('ADMIN_PORT') === undefined,
    },
    /** Where spans are sent; `''`: nowhere. */
    otlpEndpoint: env.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']),
    baseUrl: readPublicUrl(env, 'BASE_URL', { fallback: `http://${linkHost(host)}:${port}` }),
    dataDir: env.text('DATA_DIR'),
    esdbUrl: env.text('ESDB_URL', { required: true }),
    databaseUrl: env.url('DATABASE_URL', ['postgres:', 'postgresql:'], { required: true }),
    merchants,
    methods,
    transactionIdKey,
    linkKeys: readLinkKeys(env, transactionIdKey),
    /** Each in base64. `previous` are earlier ones that blocks of keys may still be encrypted under. */
    dataKeys: { current: env.text('DATA_KEY', { required: true }), previous: env.list('DATA_KEY_PREVIOUS') },
    /** Null: personal data are erased only on request. */
    retention: readRetention(env),
    /** Each is `''` in a process that seals nothing. `previous` hands over to `current`. */
    sealKeys: {
      current: env.text('SEAL_KEY', { required: seals }),
      previous: env.text('SEAL_KEY_PREVIOUS'),
    },
    /** The witnesses that cosign the checkpoints of the log, without a final slash. */
    witnessUrls: env.list('WITNESS_URLS').map((url) => url.replace(/\/$/, '')),
    /** When everything is verified each day, in Malaysian time; `off`: never. */
    verifyAt: env.text('VERIFY_SCHEDULE'),
    maxAmountSen: readMaxAmount(env),
    /** At the foot of payers' pages, `''` where there is none; `{lang}` in it stands for the page's language. */
    footer: {
      help: readPublicUrl(env, 'HELP_URL'),
      privacy: readPublicUrl(env, 'PRIVACY_URL'),
      terms: readPublicUrl(env, 'TERMS_URL'),
    },
    /** Null: nothing has to be approved. */
    approvalAboveSen: readApprovalAbove(env),
    gateway: {
      // A payer's name and the amount go there through a browser.
      url: readPublicUrl(env, 'GATEWAY_URL', { required: true }),
      secret: env.text('GATEWAY_SECRET', { required: true }),
      /** Results signed with these are accepted as well. */
      otherSecrets: env.list('GATEWAY_SECRET_PREVIOUS'),
      /** From when on a result must be labelled as one; null: never. */
      labelledFrom: readLabelledFrom(env),
      /** Development without a secret of its own: a result without CHECKSUM is accepted, and marked unverified. */
      acceptUnsigned: !production && env.given('GATEWAY_SECRET') === undefined,
    },
    registry: {
      url: env.url('REGISTRY_URL', ['http:', 'https:'], { required: true }),
      token: env.text('REGISTRY_TOKEN', { required: true }),
      /** Whether it is also asked on schedule about open payments. */
      scheduled: env.oneOf('REQUERY_SCHEDULE', ['on', 'off']) === 'on',
      /** Scheduled questions of all processes together. */
      perSecond: env.integer('REQUERY_PER_SECOND'),
    },
    callbacks,
    /** Null: its address is not configured, and its callbacks wait. */
    landRegistry: readLandRegistry(env, { ...callbacks, hasAgencies }),
    mail: readMail(env),
    /** The people who get the email about what needs staff; if there are none, every admin gets it. */
    staffAlertsTo: env.list('STAFF_ALERTS_TO', { form: deliverablePattern }),
    apiKeys: readApiKeys(env),
    /** The keys that the land registry may send; none if nobody has access. */
    landregAccessKeys: readLandregAccessKeys(env, hasAgencies),
    /** The files that were read. The process adopts a change of one while it runs (reload.ts). */
    files: env.files,
    /** The faults of changed files, which were not adopted; empty if there are none. */
    refused: [] as string[],
    sandbox: {
      enabled: env.oneOf('SANDBOX', ['true', 'false'], production ? 'false' : 'true') === 'true',
      port: env.integer('SANDBOX_PORT', { fallback: String(port === 0 ? 0 : (port + 1) % 65_536) }),
    },
    rateLimits: {
      failuresPerMinute: env.integer('RATE_LIMIT_FAILURES', { fallback: production ? '10' : '100' }),
      callsPerSecond: env.integer('RATE_LIMIT_CALLS'),
      pagesPerMinute: env.integer('RATE_LIMIT_PAGES'),
    },
    /** Whether admins need a passkey to sign in to the console. */
    passkeysRequired: env.insistsOn('passkeys', 'admins may sign in to the console without a passkey'),
    trustedProxies: env.integer('TRUSTED_PROXIES'),
    logLevel: env.oneOf('LOG_LEVEL', logLevels),
    /** What production should refuse and ALLOW_INSECURE names, each with what is insecure. */
    exceptions: env.exceptions,
  };
}

function checkSecurity(env: EnvironmentReader, config: Config): void {
  const { registry, sandbox, gateway, dataKeys, landRegistry, linkKeys } = config;
  checkEventStore(env, config.esdbUrl);
  checkPostgres(env, config.databaseUrl);
  checkMail(env, config.mail.smtpUrl ?? '');
  const isEncrypted = registry.url === '' || registry.url.startsWith('https:');
  env.mustInProduction('registry', 'REGISTRY_URL', isEncrypted, 'begin with https://');
  env.mustInProduction('sandbox', 'SANDBOX', !sandbox.enabled, 'be false');
  const payersGoTo = URL.parse(gateway.url);
  const isPublic = !payersGoTo?.username && !payersGoTo?.password;
  env.must('GATEWAY_URL', isPublic, 'have no user or password: payers see it');
  const isNamed = isIP((URL.parse(config.baseUrl)?.hostname ?? '').replace(/^\[|\]$/g, '')) === 0;
  env.mustInProduction('passkeys', 'BASE_URL', isNamed, 'have a name as its host, which passkeys need,');
  checkSecrets(env, [
    ['TRANSACTION_ID_KEY', [config.transactionIdKey]],
    ['LINK_KEY', [env.text('LINK_KEY')]],
    ['LINK_KEY_PREVIOUS', linkKeys.others.filter((key) => key !== linkKeys.original)],
    ['DATA_KEY', [dataKeys.current]],
    ['DATA_KEY_PREVIOUS', dataKeys.previous],
    ['SEAL_KEY', [config.sealKeys.current]],
    ['SEAL_KEY_PREVIOUS', [config.sealKeys.previous]],
    ['GATEWAY_SECRET', [gateway.secret], gateway.otherSecrets],
    ['REGISTRY_TOKEN', [registry.token]],
    ['LANDREG_ACCESS_KEY', [env.text('LANDREG_ACCESS_KEY')], env.list('LANDREG_ACCESS_KEY_PREVIOUS')],
    ['LANDREG_ACCESS_TOKEN', [landRegistry?.accessToken ?? '']],
    ['API_KEYS', config.apiKeys],
    ...[...config.merchants.values()].flatMap(
      ({ code, apiKeys, webhookSecrets }) =>
        [
          [`merchants.${code}.api_keys`, apiKeys],
          [`merchants.${code}.webhook_secret`, webhookSecrets],
        ] as const,
    ),
  ]);
}

/** Without LINK_KEY, TRANSACTION_ID_KEY signs, as in earlier releases. */
function readLinkKeys(env: EnvironmentReader, original: string): LinkKeys {
  const current = env.text('LINK_KEY');
  env.mustInProduction('link-key', 'LINK_KEY', current !== '', 'be set');
  return { current: current || original, others: env.list('LINK_KEY_PREVIOUS'), original };
}

/** An address for browsers; in production with https. */
const readPublicUrl = (env: EnvironmentReader, name: VariableName, reading?: Reading): string =>
  env.url(name, env.production ? ['https:'] : ['http:', 'https:'], reading);

/** The name under which this machine reaches a server bound to `host`. */
function linkHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return hostname();
  return host === '127.0.0.1' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
}

const units = { y: 'years', m: 'months', d: 'days' } as const;

function readRetention(env: EnvironmentReader): Period | null {
  const text = env.text('RETENTION');
  const unit = units[text.slice(-1) as keyof typeof units];
  return unit === undefined ? null : { count: Number(text.slice(0, -1)), unit };
}

function readLabelledFrom(env: EnvironmentReader): Date | null {
  const day = env.text('GATEWAY_RESULT_LABEL_FROM');
  const bounds = boundsOfDay(day);
  env.must('GATEWAY_RESULT_LABEL_FROM', day === '' || bounds !== null);
  return bounds && new Date(bounds.start);
}

function readMaxAmount(env: EnvironmentReader): Sen {
  const amount = parseAmount(env.text('MAX_AMOUNT_RM'), 99_999_999_999 as Sen);
  env.must('MAX_AMOUNT_RM', typeof amount === 'number');
  return typeof amount === 'number' ? amount : (0 as Sen);
}

function readApprovalAbove(env: EnvironmentReader): Sen | null {
  const text = env.text('APPROVAL_ABOVE_RM', { fallback: env.production ? '1000.00' : 'none' });
  const amount = readAmount(text);
  env.must('APPROVAL_ABOVE_RM', text === 'none' || amount !== null);
  return amount;
}

/** The Bearer keys of /api/v1, each `sha256:<64 hex digits>` or plain; none leaves it open, which production refuses. */
function readApiKeys(env: EnvironmentReader): string[] {
  const keys = env.list('API_KEYS', { form: keyForm, required: env.production });
  env.must('API_KEYS', keys.length > 0 || !env.given('API_KEYS'));
  return [...keys];
}

/**
 * The Bearer keys with which the land registry calls /landreg, `sha256:<64 hex digits>` or plain. Production needs one
 * if it has agencies of the land registry; without one nobody has access.
 */
function readLandregAccessKeys(env: EnvironmentReader, hasAgencies: boolean): string[] {
  const { production } = env;
  const reading = { form: keyForm, fallback: production ? '' : 'landreg-key' };
  const current = env.text('LANDREG_ACCESS_KEY', { ...reading, required: production && hasAgencies });
  const others = env.list('LANDREG_ACCESS_KEY_PREVIOUS', { form: keyForm });
  return [current, ...others].filter((key) => key !== '');
}
