// What production refuses, unless ALLOW_INSECURE names it.
import { createHash } from 'node:crypto';
import test from 'ava';
import { loadConfig } from '../../src/config/config.ts';
import { complete, faultsOf, production, secret, spaceless } from './environment.ts';

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
      faultsOf(t, { ...attacked, ALLOW_INSECURE })[0]?.startsWith(
        'ALLOW_INSECURE must be a comma-separated list of',
      ),
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
