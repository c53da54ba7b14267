// The configuration: what is read, and that every fault is named at once and never with its value.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import test, { type ExecutionContext } from 'ava';
import { pino } from 'pino';
import { parse } from 'yaml';
import { command as configuration } from '../../src/cli/configuration.ts';
import { loadConfig } from '../../src/config/config.ts';
import { loadMerchants } from '../../src/config/merchants.ts';
import { reloadConfig } from '../../src/config/reload.ts';
import { variables } from '../../src/config/variables.ts';

const secret = '0123456789abcdef0123456789abcdef';
const complete = {
  ESDB_URL: 'esdb://node1:2113,node2:2113,node3:2113?tls=true',
  DATABASE_URL: 'postgres://ledger@db.example/ledger?sslmode=verify-full',
  TRANSACTION_ID_KEY: 'a secret that only transaction ids are made with',
  LINK_KEY: 'a-secret-that-only-links-are-signed-with',
  DATA_KEY: Buffer.alloc(32, 'a').toString('base64'),
  GATEWAY_SECRET: secret,
  GATEWAY_URL: 'https://gateway.example/pay',
  REGISTRY_URL: 'https://registry.example',
  REGISTRY_TOKEN: 'a token of the registry with 32 characters',
};

function faultsOf(t: ExecutionContext, environment: Record<string, string>): readonly string[] {
  return t.throws(() => loadConfig(environment), { instanceOf: ConfigError })?.faults ?? [];
}

function file(t: ExecutionContext, content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-config-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'file.yaml'), content);
  return join(folder, 'file.yaml');
}

test('development needs only what the embedded parts provide', (t) => {
  const config = loadConfig({}, complete);
  t.is(config.baseUrl, 'http://localhost:5173');
  t.is(config.maxAmountSen as number, 100_000_000);
  t.deepEqual(config.rateLimits, { failuresPerMinute: 100, callsPerSecond: 500, pagesPerMinute: 1_200 });
  t.is(config.trustedProxies, 0);
  t.true(config.sandbox.enabled);
  t.is(config.sandbox.port, 5174);
  t.true(config.gateway.acceptUnsigned, 'a generated secret signs, and unsigned results are taken');
  t.deepEqual(config.merchants.get('demo-app')?.apiKeys, ['demo-key']);
  t.is(config.methods.get('fpx')?.maxSen as number, 3_000_000);
});

test('a secret is read from the file that a variable names; both, and a file that is missing, are faults', (t) => {
  const GATEWAY_SECRET_FILE = file(t, `${secret}\n`);
  const config = loadConfig({ GATEWAY_SECRET_FILE }, complete);
  t.is(config.gateway.secret, secret);
  t.false(config.gateway.acceptUnsigned);
  t.true(config.files.includes(GATEWAY_SECRET_FILE));
  t.deepEqual(faultsOf(t, { ...complete, GATEWAY_SECRET_FILE, DATA_KEY: '', DATA_KEY_FILE: '/nowhere' }), [
    "DATA_KEY_FILE names a file that cannot be read: ENOENT: no such file or directory, open '/nowhere'",
    `DATA_KEY is not set. ${variables.DATA_KEY.meaning}`,
    'GATEWAY_SECRET and GATEWAY_SECRET_FILE are both set',
  ]);
});

test('an empty file of a secret is a fault, except for the values before', (t) => {
  const empty = file(t, '\n');
  const given = {
    ...complete,
    SMTP_URL_FILE: empty,
    API_KEYS_FILE: empty,
    GATEWAY_SECRET_PREVIOUS_FILE: empty,
  };
  t.deepEqual(faultsOf(t, given), ['SMTP_URL_FILE names an empty file', 'API_KEYS_FILE names an empty file']);
});

test('no part of a merchants file is quoted, whatever YAML makes of a key', (t) => {
  const warned: Error[] = [];
  const onWarning = (warning: Error) => void warned.push(warning);
  process.on('warning', onWarning);
  t.teardown(() => process.off('warning', onWarning));
  for (const sign of ['*', '|', '!', '&', '%', '@', '"', '}', 'x: ', '>']) {
    const text = `merchants:\n  a: { name: A, id: 1, api_keys: [${sign}hidden-secret-of-a] }\n`;
    const block = `merchants:\n  a:\n    name: A\n    id: 1\n    api_keys: ${sign}hidden-secret-of-a\n`;
    for (const each of [text, block]) {
      const faults = faultsOf(t, { ...complete, MERCHANTS_FILE: file(t, each) });
      t.notRegex(faults.join(), /hidden/, sign);
    }
  }
  t.deepEqual(warned, []);
});

test('a URL of the event store that its client would print with the password is a fault', (t) => {
  const good = [
    'esdb://127.0.0.1:2113?tls=false',
    'esdb://a:p%25%C3%A4@node1:2113,node2:2113/?tls=true&node-preference=follower&TLSCAFile=/etc/ca.pem',
    'esdb+discover://a:b@db.example?tlsVerifyCert=true&keepAliveInterval=10000',
  ];
  for (const ESDB_URL of good) t.is(loadConfig({ ESDB_URL }, complete).esdbUrl, ESDB_URL);
  const bad = ['a:hidden%zz@db', 'a:hidden%E4@db', 'a:hid:den:x@db', 'a:hid@den@db', 'a:hid/den@db'];
  const options = ['?hidden=1', '?tls=true&tlsVerifyCert=false', '?tls', '?tls=true&', '?tls=true?x=1'];
  for (const rest of [...bad, ...options.map((each) => `a:hidden@db${each}`)])
    t.deepEqual(
      faultsOf(t, { ...complete, ESDB_URL: `esdb://${rest}` }),
      [
        'ESDB_URL must be a connection string such as esdb://user:password@node:2113?tls=true, with options that the client knows, and user and password percent-encoded',
      ],
      rest,
    );
});

test('an address of a witness with a password, which each failure to reach it would log, is a fault', (t) => {
  const WITNESS_URLS = 'https://one.example/log,https://ledger:hidden@two.example';
  t.deepEqual(faultsOf(t, { ...complete, WITNESS_URLS }), [
    'WITNESS_URLS must be a comma list of URLs, without user names and passwords',
  ]);
});

test('an address to listen on with a port, a scheme, brackets or blanks is a fault of its own variable', (t) => {
  const good = ['0.0.0.0', '::', 'fe80::1%eth0', '::ffff:127.0.0.1', 'localhost', 'ledger-1.internal'];
  for (const HOST of good)
    t.is(loadConfig({ HOST, ADMIN_HOST: HOST, BASE_URL: 'http://a.example' }, complete).host, HOST);
  for (const HOST of ['127.0.0.1:80', 'localhost:80', 'http://127.0.0.1', '[::1]', 'a b'])
    t.is(
      faultsOf(t, { ...complete, HOST, BASE_URL: 'http://a.example' }).join(),
      'HOST must be an IP address or a name of this machine, without port and brackets',
    );
  t.regex(faultsOf(t, { ...complete, ADMIN_HOST: 'a:1' }).join(), /^ADMIN_HOST must be an IP address/);
});

test('a URL of PostgreSQL that its client cannot decode is a fault', (t) => {
  const good = ['postgres://a:p%25%C3%A4@db/ledger', 'postgres://%2Fvar%2Frun/ledger'];
  for (const DATABASE_URL of good) t.is(loadConfig({ DATABASE_URL }, complete).databaseUrl, DATABASE_URL);
  for (const rest of ['a:hidden%E4@db/ledger', '%E4@db/ledger', '%zz/ledger', 'db/%zz'])
    t.deepEqual(
      faultsOf(t, { ...complete, DATABASE_URL: `postgres://${rest}` }),
      ['DATABASE_URL must be percent-encoded as UTF-8'],
      rest,
    );
});

test('a command demands only the variables that it uses', (t) => {
  const uses = ['ESDB_URL', 'TRANSACTION_ID_KEY'] as const;
  const { ESDB_URL, TRANSACTION_ID_KEY } = complete;
  const given = { NODE_ENV: 'production', PORT: 'none', MERCHANTS_FILE: '/nowhere', ESDB_URL };
  t.is(loadConfig({ ...given, TRANSACTION_ID_KEY }, {}, { uses }).transactionIdKey, TRANSACTION_ID_KEY);
  const faults = t.throws(() => loadConfig(given, {}, { uses }), { instanceOf: ConfigError })?.faults;
  t.deepEqual(faults, [`TRANSACTION_ID_KEY is not set. ${variables.TRANSACTION_ID_KEY.meaning}`]);

  // What it can do without, it reads all the same.
  const more = { TRANSACTION_ID_KEY, DATA_KEY_FILE: file(t, complete.DATA_KEY), SEAL_KEY_FILE: '/nowhere' };
  t.is(loadConfig({ ...given, ...more }, {}, { uses }).dataKeys.current, complete.DATA_KEY);
});

test('with a configured secret, unsigned results are refused', (t) => {
  t.false(loadConfig({ GATEWAY_SECRET: secret }, complete).gateway.acceptUnsigned);
});

test('the environment wins over what is provided; an empty variable counts as not set', (t) => {
  const config = loadConfig({ PORT: '8080', ESDB_URL: ' ', GATEWAY_URL: 'https://other.example/' }, complete);
  t.is(config.port, 8080);
  t.is(config.baseUrl, 'http://localhost:8080');
  t.is(config.esdbUrl, complete.ESDB_URL);
  t.is(config.gateway.url, 'https://other.example');
});

test('every fault is named at once, and no value', (t) => {
  const faults = faultsOf(t, {
    ...complete,
    NODE_ENV: 'staging',
    PORT: '70000',
    BASE_URL: 'pay.example',
    ESDB_URL: 'http://private-address',
    GATEWAY_URL: 'ftp://private-address',
    REGISTRY_URL: 'registry.private-address',
    REQUERY_SCHEDULE: '2m,5m',
    VERIFY_SCHEDULE: '24:00',
    LOG_LEVEL: 'loud',
    MAX_AMOUNT_RM: '1e3',
    SANDBOX: 'yes',
    MERCHANTS_FILE: '/nowhere/merchants.yaml',
  });
  for (const name of [
    'NODE_ENV',
    'PORT',
    'BASE_URL',
    'ESDB_URL',
    'GATEWAY_URL',
    'REGISTRY_URL',
    'REQUERY_SCHEDULE',
    'VERIFY_SCHEDULE',
    'LOG_LEVEL',
    'MAX_AMOUNT_RM',
    'SANDBOX',
  ])
    t.true(
      faults.some((fault) => fault.startsWith(`${name} must`)),
      name,
    );
  t.true(faults.some((fault) => fault.includes('/nowhere/merchants.yaml cannot be read')));
  t.false(faults.join().includes('private-address'));
});

test('paths are appended to an address: a query or a fragment is a fault, and in links a user and a path', (t) => {
  for (const each of [
    'hidden:word@pay.example',
    'pay.example/?hidden=1',
    'pay.example#hidden',
    'pay.example/?',
    'pay.example/ledger',
  ])
    t.deepEqual(faultsOf(t, { ...complete, BASE_URL: `https://${each}` }), [
      'BASE_URL must be the public address, without user, path, query or fragment, and with https:// in production',
    ]);
  for (const user of ['hidden:word@', 'hidden@'])
    t.deepEqual(faultsOf(t, { ...complete, GATEWAY_URL: `https://${user}gateway.example/pay` }), [
      'GATEWAY_URL must have no user or password: payers see it',
    ]);
  const GATEWAY_URL = 'https://gateway.example:8443/@pay?to=a@b.example';
  t.is(loadConfig({ GATEWAY_URL }, complete).gateway.url, GATEWAY_URL);
  for (const name of ['REGISTRY_URL', 'LANDREG_BASE_URL'] as const)
    for (const end of ['?hidden=1', '#hidden']) {
      const [fault, ...more] = faultsOf(t, {
        ...complete,
        ...landRegistry,
        [name]: `https://it.example/${end}`,
      });
      t.true(fault?.startsWith(`${name} must`), `${name} ${end}`);
      t.deepEqual(more, []);
    }
  t.is(loadConfig({ BASE_URL: 'https://pay.example/' }, complete).baseUrl, 'https://pay.example');
});

test('production sends payers only to https', (t) => {
  const fault = 'GATEWAY_URL must be a URL that begins with https://';
  const environment = { ...complete, GATEWAY_URL: 'http://gateway.example/pay' };
  t.true(faultsOf(t, { ...environment, NODE_ENV: 'production' }).includes(fault));
  t.is(loadConfig(environment).gateway.url, environment.GATEWAY_URL);
});

test('production refuses insecure defaults, naming every one', (t) => {
  const faults = faultsOf(t, { NODE_ENV: 'production', GATEWAY_SECRET: 'too short' });
  for (const name of [
    'BASE_URL',
    'ESDB_URL',
    'DATABASE_URL',
    'TRANSACTION_ID_KEY',
    'LINK_KEY',
    'DATA_KEY',
    'GATEWAY_SECRET',
    'GATEWAY_URL',
    'REGISTRY_URL',
    'REGISTRY_TOKEN',
    'SMTP_URL',
    'MAIL_FROM',
    'API_KEYS',
  ])
    t.true(
      faults.some((fault) => fault.startsWith(name)),
      name,
    );
  t.true(faults.some((fault) => fault.includes('demo-app.api_keys holds a development key')));
  t.false(faults.join().includes('too short'));
});

/** A whole configuration of production that has no fault. */
function production(t: ExecutionContext, merchant = `api_keys: ["sha256:${'a'.repeat(64)}"]`) {
  return {
    ...complete,
    NODE_ENV: 'production',
    BASE_URL: 'https://pay.example/',
    MERCHANTS_FILE: file(t, `merchants: { council: { name: Council, id: 7, ${merchant} } }`),
    SMTP_URL: 'smtps://ledger:password@mail.example',
    MAIL_FROM: 'Payments <no-reply@agency.example>',
    API_KEYS: `a-key-that-is-of-the-interface-alone, sha256:${'b'.repeat(64)}`,
  };
}

test('production starts with what it asks for, and without the sandbox', (t) => {
  const config = loadConfig(production(t));
  t.deepEqual(config.landregAccessKeys, [], 'no agency, no land registry');
  t.deepEqual(config.apiKeys, ['a-key-that-is-of-the-interface-alone', `sha256:${'b'.repeat(64)}`]);
  t.is(config.baseUrl, 'https://pay.example');
  t.false(config.sandbox.enabled);
  t.false(config.gateway.acceptUnsigned);
  t.is(config.mail.smtpUrl, 'smtps://ledger:password@mail.example');
  t.deepEqual(config.mail.from, { name: 'Payments', address: 'no-reply@agency.example' });
  t.is(config.exceptions.size, 0);
});

test('links are signed under LINK_KEY, and under TRANSACTION_ID_KEY while there is none', (t) => {
  const { LINK_KEY: current, TRANSACTION_ID_KEY: original, ...earlier } = production(t);
  const others = [spaceless, 'another-key-that-links-were-signed-with'];
  const environment = { ...earlier, TRANSACTION_ID_KEY: spaceless, LINK_KEY_PREVIOUS: others.join() };
  t.deepEqual(loadConfig({ ...environment, LINK_KEY: current }).linkKeys, {
    current,
    others,
    original: spaceless,
  });
  t.not(original, spaceless);
  const without = loadConfig({ ...environment, ALLOW_INSECURE: 'link-key' });
  t.is(without.linkKeys.current, spaceless);
  t.true(faultsOf(t, { ...environment, LINK_KEY: 'x,'.repeat(20) })[0]?.startsWith('LINK_KEY must have no'));
});

const spaceless = complete.TRANSACTION_ID_KEY.replaceAll(' ', '-');

/** What production must not run with, by what allows it, and what the fault begins with. */
const insecure: readonly (readonly [
  insecurity: string,
  environment: Record<string, string>,
  fault: string,
])[] = [
  ['registry', { REGISTRY_URL: 'http://registry.example' }, 'REGISTRY_URL must begin with https://'],
  ['sandbox', { SANDBOX: 'true' }, 'SANDBOX must be false'],
  ...[
    'postgres://ledger@db.example/ledger',
    'postgres://ledger@db.example/ledger?sslmode=require',
    'postgres://ledger@db.example/ledger?ssl=true',
    'postgres://ledger@db.example/ledger?sslmode=verify-full&sslmode=no-verify',
    'postgres://ledger@127.0.0.1/ledger?host=db.example',
    'postgres://ledger@localhost.evil.example/ledger',
  ].map(
    (DATABASE_URL) => ['postgres', { DATABASE_URL }, 'DATABASE_URL must say sslmode=verify-full'] as const,
  ),
  ...[
    'esdb://ledger:secret@node1:2113?tls=false',
    'esdb://ledger:secret@node1:2113?TLS=false',
    'esdb://ledger:secret@node1:2113?connectionName=a&t_l-s=false',
    'esdb://ledger:secret@node1:2113?tls=true&tls=false',
    // The embedded event store as it was before it had a password.
    'esdb://127.0.0.1:2113?tls=false',
    'esdb://ledger:secret@127.0.0.1:2113,node1:2113?tls=false',
    'esdb://ledger:secret@127.0.0.1.evil.example:2113?tls=false',
    'esdb+discover://ledger:secret@127.0.0.1:2113?tls=false',
  ].map((ESDB_URL) => ['eventstore', { ESDB_URL }, 'ESDB_URL must not say tls=false'] as const),
  [
    'eventstore',
    { ESDB_URL: 'esdb://admin:changeit@node1:2113?tls=true' },
    'ESDB_URL must not have the password with which every EventStoreDB begins',
  ],
  ['link-key', { LINK_KEY: '' }, 'LINK_KEY must be set'],
  ...[
    'smtp://mail.example?requireTLS=false',
    'smtp://mail.example?requireTLS=0',
    'smtp://mail.example?requireTLS=true&requireTLS=false',
    'smtps://mail.example?tls.rejectUnauthorized=false',
    'smtp://localhost.evil.example?requireTLS=false',
  ].map((SMTP_URL) => ['mail', { SMTP_URL }, 'SMTP_URL must not turn off TLS or its checks'] as const),
  ...[
    'TRANSACTION_ID_KEY',
    'LINK_KEY',
    'LINK_KEY_PREVIOUS',
    'GATEWAY_SECRET',
    'REGISTRY_TOKEN',
    'LANDREG_ACCESS_KEY',
    'API_KEYS',
  ].map((name) => ['short-secrets', { [name]: 'x'.repeat(31) }, `${name} must have at least 32`] as const),
  ['shared-secrets', { LINK_KEY: secret }, 'LINK_KEY and GATEWAY_SECRET must have different values'],
  [
    'shared-secrets',
    { LINK_KEY: spaceless, TRANSACTION_ID_KEY: spaceless },
    'TRANSACTION_ID_KEY and LINK_KEY must have different values',
  ],
  ['passkeys', { BASE_URL: 'https://10.0.0.7' }, 'BASE_URL must have a name as its host'],
  ['passkeys', { BASE_URL: 'https://[fd00::7]' }, 'BASE_URL must have a name as its host'],
  [
    'shared-secrets',
    { REGISTRY_TOKEN: secret },
    'GATEWAY_SECRET and REGISTRY_TOKEN must have different values',
  ],
  [
    'shared-secrets',
    {
      API_KEYS: spaceless,
      TRANSACTION_ID_KEY: spaceless,
    },
    'TRANSACTION_ID_KEY and API_KEYS must have different values',
  ],
  [
    'shared-secrets',
    { API_KEYS: `sha256:${createHash('sha256').update(secret).digest('hex')}` },
    'GATEWAY_SECRET and API_KEYS must have different values',
  ],
];

for (const [insecurity, environment, begins] of insecure)
  test(`production refuses, unless told to accept ${insecurity}: ${JSON.stringify(environment)}`, (t) => {
    const attacked = { ...production(t), ...environment };
    const [fault = '', ...more] = faultsOf(t, attacked);
    t.true(fault.startsWith(begins), fault);
    t.true(fault.endsWith(`in production, unless ALLOW_INSECURE names ${insecurity}`), fault);
    t.deepEqual(more, []);
    const { exceptions } = loadConfig({ ...attacked, ALLOW_INSECURE: insecurity });
    t.deepEqual([...exceptions.keys()], [insecurity]);
    t.true(exceptions.get(insecurity as 'postgres')?.some((fault) => fault.startsWith(begins)));
    t.notThrows(() => loadConfig({ ...attacked, NODE_ENV: 'test' }));
  });

test('production pauses an address after fewer wrong credentials than development', (t) => {
  t.is(loadConfig(production(t)).rateLimits.failuresPerMinute, 10);
});

test('production accepts a mail server on the same machine without TLS', (t) => {
  const SMTP_URL = 'smtp://localhost:25?requireTLS=false';
  t.is(loadConfig({ ...production(t), SMTP_URL }).mail.smtpUrl, SMTP_URL);
});

test('production asks admins for passkeys, unless told that they may do without', (t) => {
  t.true(loadConfig(production(t)).passkeysRequired);
  const { exceptions, passkeysRequired } = loadConfig({ ...production(t), ALLOW_INSECURE: 'passkeys' });
  t.false(passkeysRequired);
  t.deepEqual([...exceptions.keys()], ['passkeys']);
  t.false(loadConfig({}, complete).passkeysRequired);
});

test('an exception allows what it names alone, and must have a name that exists', (t) => {
  const attacked = { ...production(t), SANDBOX: 'true', REGISTRY_URL: 'http://registry.example' };
  t.deepEqual(faultsOf(t, { ...attacked, ALLOW_INSECURE: 'registry' }), [
    'SANDBOX must be false in production, unless ALLOW_INSECURE names sandbox',
  ]);
  t.is(loadConfig({ ...attacked, ALLOW_INSECURE: 'registry, sandbox' }).exceptions.size, 2);
  for (const ALLOW_INSECURE of ['all', '*', 'registry sandbox'])
    t.true(
      faultsOf(t, { ...attacked, ALLOW_INSECURE })[0]?.startsWith('ALLOW_INSECURE must be a comma list of'),
    );
});

test('production takes the embedded stores, and a database on this machine', (t) => {
  for (const stores of [
    {
      ESDB_URL: 'esdb://ledger:secret@127.0.0.1:2113?tls=false',
      DATABASE_URL: 'postgres://127.0.0.1/ledger',
    },
    { DATABASE_URL: 'postgres://ledger@%2Frun%2Fpostgresql/ledger' },
    { DATABASE_URL: 'postgres://ledger@db.example/ledger?host=/run/postgresql' },
  ])
    t.notThrows(() => loadConfig({ ...production(t), ...stores }));
});

test("a merchant's keys and secrets are long, and nobody else's", (t) => {
  const faults = faultsOf(
    t,
    production(t, `api_keys: ["${'k'.repeat(31)}", "${secret}"], webhook_secret: ["${'w'.repeat(31)}"]`),
  );
  t.deepEqual(
    faults.map((fault) => fault.split(' in production')[0]),
    [
      'merchants.council.api_keys must have at least 32 characters',
      'merchants.council.webhook_secret must have at least 32 characters',
      'GATEWAY_SECRET and merchants.council.api_keys must have different values',
    ],
  );
  t.notRegex(faults.join(), new RegExp(`${secret}|kkk|www`));
});

test('a text that only begins like a digest is no digest: two of them are different values', (t) => {
  const [GATEWAY_SECRET, REGISTRY_TOKEN] = ['g', 'r'].map((letter) => `sha256:${letter.repeat(40)}`);
  t.notThrows(() => loadConfig({ ...production(t), GATEWAY_SECRET, REGISTRY_TOKEN }));
});

test('a value before that is too short is named by its own variable, and may be the present one', (t) => {
  for (const name of ['GATEWAY_SECRET', 'LANDREG_ACCESS_KEY']) {
    const present = production(t)[name as 'GATEWAY_SECRET'] ?? 'an-access-key-of-the-land-registry';
    const settings = { ...production(t), [name]: present };
    t.notThrows(() => loadConfig({ ...settings, [`${name}_PREVIOUS`]: present }));
    t.deepEqual(faultsOf(t, { ...settings, [`${name}_PREVIOUS`]: 'too-short' }), [
      `${name}_PREVIOUS must have at least 32 characters in production, unless ALLOW_INSECURE names short-secrets`,
    ]);
  }
});

test('the keys of personal data have 32 bytes each', (t) => {
  const previous = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'));
  t.deepEqual(loadConfig({ DATA_KEY_PREVIOUS: previous.join(', ') }, complete).dataKeys, {
    current: complete.DATA_KEY,
    previous,
  });
  for (const key of ['short', Buffer.alloc(31).toString('base64'), secret]) {
    t.deepEqual(faultsOf(t, { ...complete, DATA_KEY: key }), ['DATA_KEY must be 32 bytes in base64']);
    t.deepEqual(faultsOf(t, { ...complete, DATA_KEY_PREVIOUS: `${complete.DATA_KEY},${key}` }), [
      'DATA_KEY_PREVIOUS must be a comma list of keys of 32 bytes in base64',
    ]);
  }
});

test('the retention is a number of years, months or days, and there is none by default', (t) => {
  t.is(loadConfig({}, complete).retention, null);
  t.deepEqual(loadConfig({ RETENTION: '7y' }, complete).retention, { count: 7, unit: 'years' });
  t.deepEqual(loadConfig({ RETENTION: '18m' }, complete).retention, { count: 18, unit: 'months' });
  t.deepEqual(loadConfig({ RETENTION: '90d' }, complete).retention, { count: 90, unit: 'days' });
  for (const RETENTION of ['0y', '7', 'y', '7 years', '-1d'])
    t.deepEqual(faultsOf(t, { ...complete, RETENTION }), ['RETENTION must be a time such as 7y, 18m or 90d']);
});

test('what is adopted while it runs, and what is named as taking a restart', (t) => {
  const config = loadConfig(complete);
  const { registry, sealKeys } = config;
  const logged: object[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const SEAL_KEY = 'a'.repeat(64);
  const changes = {
    REGISTRY_TOKEN: 'another',
    API_KEYS: 'a-new-key',
    SEAL_KEY,
    LINK_KEY: 'another-link-key',
  };
  reloadConfig(config, () => loadConfig({ ...complete, ...changes }), log);
  t.like({ registry, sealKeys }, { registry: { token: 'another' }, sealKeys: { current: SEAL_KEY } });
  t.deepEqual(config.apiKeys, ['a-new-key']);
  t.not(config.linkKeys.current, 'another-link-key');
  t.like(logged, [
    { msg: 'merchants, payment methods and secrets were loaded again' },
    { msg: 'a change of these takes a restart', variables: ['LINK_KEY'] },
  ]);
});

test('a merchants file that was emptied is refused while it runs, and accepted at a start', (t) => {
  const merchants = file(t, 'merchants: { council: { name: Council, id: 7, api_keys: [a-key-of-council] } }');
  const environment = { ...complete, MERCHANTS_FILE: merchants };
  const load = () => loadConfig(environment);
  const config = load();
  const logged: object[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const before = readFileSync(merchants, 'utf8');
  writeFileSync(merchants, 'merchants: {}');
  reloadConfig(config, load, log);
  t.deepEqual([...config.merchants.keys()], ['council']);
  t.deepEqual(config.refused, [
    'MERCHANTS_FILE names no merchant any more; if that is meant, restart the process',
  ]);
  t.like(logged, [{ msg: 'the changed configuration is at fault: the one before stays' }]);
  t.is(load().merchants.size, 0);
  writeFileSync(merchants, before);
  reloadConfig(config, load, log);
  t.deepEqual(config.refused, []);
});

test('a process that seals the log needs the key, and no other does', (t) => {
  t.is(loadConfig({}, complete).sealKeys.current, '');
  t.throws(() => loadConfig({}, complete, { seals: true }), { message: /SEAL_KEY is not set/ });
  t.is(loadConfig({ SEAL_KEY: 'a'.repeat(64) }, complete, { seals: true }).sealKeys.current, 'a'.repeat(64));
  for (const SEAL_KEY of ['a'.repeat(63), 'a'.repeat(66), 'g'.repeat(64)])
    for (const name of ['SEAL_KEY', 'SEAL_KEY_PREVIOUS'])
      t.deepEqual(faultsOf(t, { ...complete, [name]: SEAL_KEY }), [`${name} must be 64 hexadecimal digits`]);
});

test('emails go to files in development, and are from one address', (t) => {
  t.is(loadConfig({}, complete).mail.smtpUrl, null);
  t.deepEqual(loadConfig({ MAIL_FROM: 'no-reply@agency.example' }, complete).mail.from, {
    name: '',
    address: 'no-reply@agency.example',
  });
  for (const sender of [
    'Payments',
    'a@b.example, c@d.example',
    'A <a@b.example> <c@d.example>',
    '<a@b.example',
    'A\r\nBcc: x <a@b.example>',
    'x@a..b',
    'x@a.example.',
    '.x@a.example',
  ])
    t.true(
      faultsOf(t, { ...complete, MAIL_FROM: sender }).some((fault) => fault.startsWith('MAIL_FROM')),
      sender,
    );
  for (const url of [
    'https://mail.example',
    'mail.example',
    'smtp://mail.example?logger=true',
    'smtp://mail.example?host=other.example',
    'smtp://',
    'smtp:mail.example',
  ])
    t.true(
      faultsOf(t, { ...complete, SMTP_URL: url }).some((fault) => fault.startsWith('SMTP_URL')),
      url,
    );
});

const landRegistry = {
  LANDREG_BASE_URL: 'https://tanah.example/api/',
  LANDREG_CALLBACK_PATH: '/bayaran',
  LANDREG_ACCESS_TOKEN: 'a-token-of-theirs',
};

test('the land registry: its address, our token, the timeouts', (t) => {
  t.is(loadConfig({}, complete).landRegistry, null);
  t.deepEqual(loadConfig(landRegistry, complete).landRegistry, {
    callbackUrl: 'https://tanah.example/api/bayaran',
    accessToken: 'a-token-of-theirs',
    dimasuk: 'EPAYMENT',
    connectTimeoutMs: 10_000,
    timeoutMs: 30_000,
    attempts: 3,
    pauseMs: 500,
  });
  const faults = faultsOf(t, {
    ...complete,
    LANDREG_BASE_URL: 'tanah.example',
    LANDREG_CALLBACK_PATH: 'bayaran',
    LANDREG_ACCESS_TOKEN: 'a token\nwith lines',
    LANDREG_CONNECT_TIMEOUT_MS: '0',
    LANDREG_TIMEOUT_MS: '60000',
    LANDREG_ATTEMPTS: '1.5',
    LANDREG_PAUSE_MS: '-1',
  });
  t.deepEqual(
    faults.map((fault) => fault.split(' must ')[0]),
    [
      'LANDREG_CALLBACK_PATH',
      'LANDREG_ACCESS_TOKEN',
      'LANDREG_BASE_URL',
      'LANDREG_CONNECT_TIMEOUT_MS',
      'LANDREG_TIMEOUT_MS',
      'LANDREG_ATTEMPTS',
      'LANDREG_PAUSE_MS',
    ],
  );
});

test('a land registry needs a path and a token; production with agencies needs one, and https', (t) => {
  const { LANDREG_BASE_URL } = landRegistry;
  t.deepEqual(
    faultsOf(t, { ...complete, LANDREG_BASE_URL }).map((fault) => fault.split(' is ')[0]),
    ['LANDREG_CALLBACK_PATH', 'LANDREG_ACCESS_TOKEN'],
  );
  const MERCHANTS_FILE = file(t, 'merchants: { office: { name: Office, id: 7, branch_code: "00" } }');
  const agencies = { ...complete, NODE_ENV: 'production', MERCHANTS_FILE };
  const inProduction = (more: Record<string, string>) =>
    faultsOf(t, { ...agencies, ...more }).filter((it) => it.startsWith('LANDREG_B'));
  t.true(faultsOf(t, agencies).some((fault) => fault.startsWith('LANDREG_ACCESS_KEY is not set')));
  const atFault = (merchant: string) =>
    faultsOf(t, { ...agencies, MERCHANTS_FILE: file(t, `merchants: { office: { ${merchant} } }`) }).map(
      (fault) => fault.split(' ').find((word) => /^(LANDREG|merchants)/.test(word)),
    );
  const ofAgency = ['LANDREG_BASE_URL', 'LANDREG_ACCESS_KEY'];
  const named = (faults: readonly unknown[]) => faults.filter((it) => ofAgency.includes(String(it)));
  t.deepEqual(named(atFault('name: Office, id: 0, branch_code: "00"')), ofAgency, 'all faults at once');
  t.deepEqual(named(atFault('name: Office, id: 0')), []);
  t.regex(inProduction({}).join(), /^LANDREG_BASE_URL is not set/);
  t.deepEqual(inProduction(landRegistry), []);
  const plain = { ...landRegistry, LANDREG_BASE_URL: 'http://10.1.2.3/' };
  t.regex(
    inProduction(plain).join(),
    /^LANDREG_BASE_URL must have no query or fragment, and begin with https/,
  );
  t.deepEqual(inProduction({ ...plain, CALLBACK_ALLOW_HOSTS: '10.1.2.3' }), []);
});

test('API keys are plain or hashed, long in production, and every one must be a key', (t) => {
  t.deepEqual(loadConfig({}, complete).apiKeys, [], 'none leaves the API open');
  t.deepEqual(loadConfig({ API_KEYS: 'a-short-key' }, complete).apiKeys, ['a-short-key']);
  for (const API_KEYS of [',', 'short', 'sha256:abc', `${secret},key with blanks`]) {
    const [fault, ...more] = faultsOf(t, { ...complete, API_KEYS });
    t.regex(fault ?? '', /^API_KEYS must be a comma list/);
    t.deepEqual(more, []);
    t.false(fault?.includes('blanks'));
  }
  const inProduction = faultsOf(t, { ...complete, NODE_ENV: 'production', API_KEYS: 'a-short-key' });
  t.true(inProduction.some((fault) => fault.startsWith('API_KEYS must')));
});

test('the faults of a merchants file name the keys, and never their values', (t) => {
  const merchants = file(
    t,
    `merchants:
  "bad code!": { name: "", id: x, api_keys: [] }
  one: { name: One, id: 1, api_keys: ["private key with blanks"], charges: { fpx: 1.234, nope: 3 }, colour: red }
  two: { id: 1 }`,
  );
  const faults = faultsOf(t, { ...complete, MERCHANTS_FILE: merchants });
  for (const key of [
    'bad code!',
    'bad code!.name',
    'bad code!.id',
    'one.api_keys',
    'one.charges.fpx',
    'one.charges.nope',
    'one.colour',
    'two.name',
  ])
    t.true(
      faults.some((fault) => fault.includes(`merchants.${key}`)),
      key,
    );
  t.false(faults.join().includes('private key'));
  t.true(
    faults.some((fault) =>
      fault.endsWith(
        'one.api_keys.0 is not valid (sha256:<64 hex digits>, or a key of 6 to 200 characters without blanks)',
      ),
    ),
  );
});

test('redirect_hosts are hosts alone, in any case and in any letters', (t) => {
  const withHosts = (hosts: string) =>
    file(t, `merchants: { one: { name: One, id: 1, api_keys: [key-of-one], redirect_hosts: [${hosts}] } }`);
  const { redirectHosts } =
    loadMerchants(withHosts('Pay.Example, müller.example, "[::1]"'), false).get('one') ?? {};
  t.deepEqual(redirectHosts, ['pay.example', 'xn--mller-kva.example', '[::1]']);
  for (const wrong of ['"https://pay.example"', '"pay.example:8443"', 'pay.example/paid', '"pay example"'])
    t.regex(
      faultsOf(t, { ...complete, MERCHANTS_FILE: withHosts(`pay.example, ${wrong}`) }).join(),
      /redirect_hosts\.1 is not valid \(the name of a host/,
      wrong,
    );
});

test('two merchants cannot share an id', (t) => {
  const merchants = file(
    t,
    `merchants: { one: { name: One, id: 1, api_keys: [key-of-one] }, two: { name: Two, id: 1, api_keys: [key-of-two] } }`,
  );
  t.deepEqual(faultsOf(t, { ...complete, MERCHANTS_FILE: merchants }), [
    `${merchants}: merchants.two.id is also that of one`,
  ]);
});

test('a code cannot be the id of another merchant, which it would stand for in a scope', (t) => {
  const merchants = file(
    t,
    `merchants: { one: { name: One, id: 7, api_keys: [key-of-one] }, 7: { name: Two, id: 1, api_keys: [key-of-two] }, 3: { name: Three, id: 3, api_keys: [key-of-three] } }`,
  );
  t.deepEqual(faultsOf(t, { ...complete, MERCHANTS_FILE: merchants }), [
    `${merchants}: merchants.one.id is also the code of another`,
  ]);
});

test('one branch names one agency; an agency with a branch needs no key, any other does', (t) => {
  const merchants = file(
    t,
    `merchants:
  one: { name: One, id: 1, branch_code: "00" }
  two: { name: Two, id: 2, branch_code: "00" }
  three: { name: Three, id: 3 }`,
  );
  t.deepEqual(faultsOf(t, { ...complete, MERCHANTS_FILE: merchants }), [
    `${merchants}: merchants.two.branch_code is also that of one`,
    `${merchants}: merchants.three needs api_keys or a branch_code`,
  ]);
  const unquoted = file(t, 'merchants: { one: { name: One, id: 1, branch_code: 00 } }');
  t.deepEqual(faultsOf(t, { ...complete, MERCHANTS_FILE: unquoted }), [
    `${unquoted}: merchants.one.branch_code is not valid (string)`,
  ]);
});

test('the land registry has a public key in development, and a secret in production', (t) => {
  t.deepEqual(loadConfig({}, complete).landregAccessKeys, ['landreg-key']);
  t.deepEqual(loadConfig({ LANDREG_ACCESS_KEY: 'another' }, complete).landregAccessKeys, ['another']);
  const hashed = `sha256:${'b'.repeat(64)}`;
  t.deepEqual(loadConfig({ LANDREG_ACCESS_KEY: hashed }, complete).landregAccessKeys, [hashed]);
  const fault =
    'LANDREG_ACCESS_KEY must be sha256:<64 hex digits> or a key of at least 6 characters, without blanks';
  for (const LANDREG_ACCESS_KEY of ['short', 'sha256:abc', `${secret} with blanks`])
    t.deepEqual(faultsOf(t, { ...complete, LANDREG_ACCESS_KEY }), [fault]);
  const inProduction = (key: string) =>
    faultsOf(t, { ...production(t), SANDBOX: 'true', LANDREG_ACCESS_KEY: key });
  t.regex(inProduction('landreg-key').join(), /LANDREG_ACCESS_KEY must have at least 32 characters/);
  for (const key of ['a key that nobody else has'.replaceAll(' ', '-').repeat(2), hashed.replace('b', 'c')])
    t.notRegex(inProduction(key).join(), /LANDREG_ACCESS_KEY/);
  const previous = { LANDREG_ACCESS_KEY: '', LANDREG_ACCESS_KEY_PREVIOUS: 'landreg-key' };
  t.regex(
    faultsOf(t, { ...production(t), ...previous }).join(),
    /LANDREG_ACCESS_KEY_PREVIOUS must have at least 32 characters/,
  );
});

test('a change of the payment methods is adopted, and the addresses at the foot of pages are checked', (t) => {
  const down = 'methods: { fpx: { banks: [{ code: A1, name: A, down: true }] } }';
  const methods = file(t, down.replace('true', 'false'));
  const environment = {
    ...complete,
    PAYMENT_METHODS_FILE: methods,
    HELP_URL: 'https://a.example/{lang}/help',
  };
  const config = loadConfig(environment);
  t.true(config.files.includes(methods));
  t.deepEqual(config.footer, { help: 'https://a.example/{lang}/help', privacy: '', terms: '' });
  const before = config.methods;
  writeFileSync(methods, down);
  reloadConfig(config, () => loadConfig(environment), pino({ level: 'silent' }));
  t.not(config.methods, before);
  t.is(config.methods.get('fpx')?.banks[0]?.down, true);
  t.deepEqual(faultsOf(t, { ...complete, TERMS_URL: 'javascript:alert(1)' }), [
    'TERMS_URL must be a URL that begins with http:// or https://',
  ]);
});

test('a method that the file leaves out is not offered', (t) => {
  const methods = file(t, 'methods: { cc: { charge: "1.50", max: 500 } }');
  const config = loadConfig({ ...complete, PAYMENT_METHODS_FILE: methods });
  t.deepEqual([...config.methods.keys()], ['cc']);
  t.is(config.methods.get('cc')?.chargeSen as number, 150);
  t.is(config.methods.get('cc')?.maxSen as number, 50_000);
});

test('each role of docker-compose.yml keeps its data folder when its container is replaced', (t) => {
  const { services, volumes } = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true });
  const folders = ['http', 'projections', 'reactors'].map((role) => services[role].volumes?.join());
  t.deepEqual(
    folders.filter((folder) => Object.keys(volumes).some((name) => folder === `${name}:/data`)),
    folders,
  );
  t.is(new Set(folders).size, 3, 'to each its own');
});

test('the configuration page and .env.example name every variable, and no other', async (t) => {
  const page = await configuration({}, []);
  t.is(
    readFileSync('content/docs/configuration.md', 'utf8'),
    typeof page === 'number' ? '' : `${page.text}\n`,
    'npx ledger configuration > content/docs/configuration.md',
  );
  const named = readFileSync('.env.example', 'utf8').match(/^#?[A-Z][A-Z_]+(?==)/gm) ?? [];
  const ofComposeOnly = ['POSTGRES_PASSWORD'];
  t.deepEqual(
    named.map((name) => name.replace('#', '')).sort(),
    [...Object.keys(variables), ...ofComposeOnly].sort(),
  );
});

test('each variable that has a form says in words what it must be', (t) => {
  for (const [name, { fallback = '', form, must }] of Object.entries(variables)) {
    if (form === undefined) continue;
    t.true((must ?? '') !== '', name);
    t.true(fallback === '' || new RegExp(`^(?:${form})$`).test(fallback), name);
  }
});
