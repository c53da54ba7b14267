/**
 * Every variable the program reads, with its default and its meaning. Reading any other is a type error, so the
 * reference page that `ledger configuration` prints is complete.
 */

export type Variable = {
  /** The value when the variable is not set; `''` by default. */
  fallback?: string;
  /** The default on the reference page, where it depends on something. */
  otherwise?: string;
  /** What it means, in one line of markdown: on the reference page, and where it is needed and not set. */
  meaning: string;
};

const embedded = 'embedded in `ledger serve`';
const sandbox = 'the sandbox of `ledger serve`';
const generated = 'generated in `DATA_DIR`; production needs one';

/** In the order of the reference page. */
export const variableGroups = {
  'The process': {
    NODE_ENV: {
      fallback: 'development',
      meaning:
        '`development`, `production` or `test`. Production refuses insecure defaults, naming every one',
    },
    ENVIRONMENT_NAME: {
      otherwise: 'development or production',
      meaning: 'The name that /generic/check reports',
    },
    HOST: { fallback: '127.0.0.1', meaning: 'Address to listen on' },
    PORT: { fallback: '5173', meaning: 'Port to listen on' },
    BASE_URL: { otherwise: 'from HOST and PORT', meaning: 'For absolute links; `https://` in production' },
    LOG_LEVEL: {
      fallback: 'info',
      meaning:
        '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`. JSON lines; pretty on a terminal',
    },
  },
  'The stores': {
    DATA_DIR: { fallback: './data', meaning: 'Embedded stores, generated keys, the outbox of emails' },
    ESDB_URL: {
      otherwise: embedded,
      meaning: 'EventStoreDB: `esdb://` or `esdb+discover://`; `ledger serve` can bring its own',
    },
    DATABASE_URL: {
      otherwise: embedded,
      meaning: 'PostgreSQL: `postgres://`; `ledger serve` can bring its own',
    },
    DATA_KEY: {
      otherwise: generated,
      meaning:
        'The keys of personal data are encrypted under it: 32 bytes in base64, from `openssl rand -base64 32`. Without it, no personal data can be read',
    },
    DATA_KEY_PREVIOUS: {
      otherwise: 'none',
      meaning:
        'Comma list of earlier values of DATA_KEY, until `ledger keys rewrap` has moved everything to the present one',
    },
    RETENTION: {
      otherwise: 'none: nothing is erased by itself',
      meaning:
        'How long after the last event of a payment its personal data are kept, such as `7y`, `18m` or `90d`',
    },
    SEAL_KEY: {
      otherwise: 'generated in `DATA_DIR`; `ledger projections` and `ledger serve` need one',
      meaning:
        'Seals of the log are signed with it: 64 hexadecimal digits, from `openssl rand -hex 32`. For those two alone',
    },
  },
  Payments: {
    MERCHANTS_FILE: { fallback: 'config/merchants.yaml', meaning: 'The merchants and their keys' },
    PAYMENT_METHODS_FILE: {
      fallback: 'config/payment-methods.yaml',
      meaning: 'Methods on offer, with limits, charges and banks',
    },
    MAX_AMOUNT_RM: { fallback: '1000000.00', meaning: 'The most that one payment may ask for' },
    APPROVAL_ABOVE_RM: {
      otherwise: '`none`; 1000.00 in production',
      meaning:
        'A second member of staff has to approve a resolution or refund of more than this; `none` if nobody has to',
    },
    TRANSACTION_ID_KEY: {
      otherwise: generated,
      meaning:
        'Every transaction id is derived from it, for life: make it once, keep it as safe as the data. 32 characters or more in production',
    },
  },
  'The gateway and the registry': {
    GATEWAY_URL: { otherwise: sandbox, meaning: 'Where payers are sent to pay; `https://` in production' },
    GATEWAY_SECRET: {
      otherwise: generated,
      meaning: 'The gateway’s results are signed with it. 32 characters or more in production',
    },
    GATEWAY_RESULT_LABEL_FROM: {
      otherwise: 'never',
      meaning:
        'The first day, such as `2027-01-01`, from which results must have the field `DIRECTION=result`',
    },
    REGISTRY_URL: { otherwise: sandbox, meaning: 'The transaction registry that requery asks' },
    REGISTRY_TOKEN: { otherwise: sandbox, meaning: 'The registry knows us by it (Bearer)' },
    REQUERY_SCHEDULE: {
      fallback: 'on',
      meaning: '`on` or `off`: whether the registry is also asked by schedule about payments left open',
    },
    REQUERY_PER_SECOND: {
      fallback: '5',
      meaning:
        'How many scheduled questions all `ledger reactors` processes together ask in a second, 1 to 1000',
    },
  },
  'The land registry': {
    LANDREG_ACCESS_KEY: {
      otherwise: '`landreg-key`; production needs one where it has agencies',
      meaning: 'The Bearer key of the land registry’s calls to us, plain or as `sha256:<hex>`',
    },
    LANDREG_BASE_URL: {
      otherwise: sandbox,
      meaning:
        'Where the land registry is; `https://` in production unless CALLBACK_ALLOW_HOSTS names its host',
    },
    LANDREG_CALLBACK_PATH: { otherwise: sandbox, meaning: 'Where the land registry takes callbacks' },
    LANDREG_ACCESS_TOKEN: {
      otherwise: sandbox,
      meaning: 'The land registry knows us by it (header Access-Token)',
    },
    LANDREG_DIMASUK: { fallback: 'EPAYMENT', meaning: 'The text of dimasuk in a callback' },
    LANDREG_CONNECT_TIMEOUT_MS: { fallback: '10000', meaning: 'To connect, at most' },
    LANDREG_TIMEOUT_MS: { fallback: '30000', meaning: 'A whole attempt, at most' },
    LANDREG_ATTEMPTS: { fallback: '3', meaning: 'Attempts to connect within it' },
    LANDREG_PAUSE_MS: { fallback: '500', meaning: 'The pause between them' },
  },
  'Callbacks and email': {
    CALLBACK_RETRY_SCHEDULE: {
      fallback: '0s,5s,5m,30m,2h,5h,10h,14h,20h,24h',
      meaning: 'The pause before each attempt',
    },
    DELIVERY_ATTEMPTS: {
      fallback: '256',
      meaning:
        'How many attempts at deliveries of one kind a `ledger reactors` process makes at a time, 1 to 10000',
    },
    DELIVERY_ATTEMPTS_PER_RECEIVER: { fallback: '8', meaning: 'Of these, how many at one receiver' },
    DELIVERY_ATTEMPTS_PER_MERCHANT: { fallback: '32', meaning: 'Of these, how many for one merchant' },
    CALLBACK_ALLOW_HOSTS: {
      otherwise: 'none; localhost in development',
      meaning: 'Hosts that callbacks may reach although their address is private',
    },
    SMTP_URL: {
      otherwise: 'files in `DATA_DIR/outbox`; production needs one',
      meaning:
        'Sends receipts and links to sign in: `smtp://` or `smtps://`, such as `smtps://user:password@mail.example`',
    },
    MAIL_FROM: {
      fallback: 'Payment ledger <no-reply@ledger.example>',
      otherwise: '`Payment ledger <no-reply@ledger.example>`; production needs one',
      meaning: 'The sender of receipts and of links to sign in, such as `Payments <no-reply@agency.example>`',
    },
  },
  '/api/v1 and the sandbox': {
    API_KEYS: {
      otherwise: 'none: open; production needs some',
      meaning: 'Comma list of the Bearer keys of /api/v1, plain or as `sha256:<hex>`',
    },
    SANDBOX: {
      otherwise: 'true; false in production',
      meaning: 'Sandbox, debug and simulate pages. Never true where real money moves',
    },
    SANDBOX_PORT: { otherwise: 'PORT + 1', meaning: 'Port of the sandbox' },
  },
} satisfies Record<string, Record<string, Variable>>;

type Groups = typeof variableGroups;
export type VariableName = { [Title in keyof Groups]: keyof Groups[Title] }[keyof Groups];

export const variables = Object.assign({}, ...Object.values(variableGroups)) as Readonly<
  Record<VariableName, Variable>
>;
