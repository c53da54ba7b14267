// The configuration: what is read, and that every fault is named at once and never with its value.
import { readFileSync } from 'node:fs';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import test from 'ava';
import { parse } from 'yaml';
import { command as configuration } from '../../src/cli/configuration.ts';
import { loadConfig } from '../../src/config/config.ts';
import { variables } from '../../src/config/environment-reader.ts';
import { complete, faultsOf, file } from './environment.ts';

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

test('no fault is named of a default that is made of an invalid variable', (t) => {
  const portFault = 'PORT must be a whole number from 0 to 65535';
  t.deepEqual(faultsOf(t, { ...complete, PORT: 'abc' }), [portFault]);
  t.deepEqual(faultsOf(t, { ...complete, PORT: '65536' }), [portFault]);
  t.deepEqual(faultsOf(t, { ...complete, PORT: 'abc', SANDBOX_PORT: 'x' }), [
    portFault,
    `SANDBOX_${portFault}`,
  ]);
  t.deepEqual(faultsOf(t, { ...complete, HOST: 'http://x' }), [
    'HOST must be an IP address or a name of this machine, without port and brackets',
  ]);
  t.is(loadConfig({ ...complete, PORT: '65535' }).sandbox.port, 0, 'there is no higher port');
});

test('the retention is a number of years, months or days, and there is none by default', (t) => {
  t.is(loadConfig({}, complete).retention, null);
  t.deepEqual(loadConfig({ RETENTION: '7y' }, complete).retention, { count: 7, unit: 'years' });
  t.deepEqual(loadConfig({ RETENTION: '18m' }, complete).retention, { count: 18, unit: 'months' });
  t.deepEqual(loadConfig({ RETENTION: '90d' }, complete).retention, { count: 90, unit: 'days' });
  for (const RETENTION of ['0y', '7', 'y', '7 years', '-1d'])
    t.deepEqual(faultsOf(t, { ...complete, RETENTION }), ['RETENTION must be a time such as 7y, 18m or 90d']);
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

test('each role of docker-compose.yml keeps its data folder when its container is replaced', (t) => {
  const { services, volumes } = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true });
  const folders = ['http', 'projections', 'reactors'].map((role) => services[role].volumes?.join());
  t.deepEqual(
    folders.filter((folder) => Object.keys(volumes).some((name) => folder === `${name}:/data`)),
    folders,
  );
  t.is(new Set(folders).size, 3, 'to each its own');
});

test('.env cannot change what the image and docker-compose.yml agree on', (t) => {
  const { services } = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true });
  const [, line = ''] = readFileSync('Dockerfile', 'utf8').match(/^ENV (.+)$/m) ?? [];
  const { NODE_ENV, ...ofImage } = Object.fromEntries(line.split(' ').map((each) => each.split('=')));
  t.is(NODE_ENV, 'production');
  t.like(ofImage, { ADMIN_PORT: '9464', DATA_DIR: '/data' });
  for (const service of ['accounts', 'http', 'projections', 'reactors']) {
    const { environment } = services[service];
    t.like(environment, ofImage, service);
    t.deepEqual(
      Object.keys(environment).filter((name) => !(name in variables)),
      ['POSTGRES_PASSWORD'],
      service,
    );
  }
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
