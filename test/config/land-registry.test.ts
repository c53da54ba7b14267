// What is configured for the land registry: its address, the keys of both sides, and its agencies.
import test from 'ava';
import { loadConfig } from '../../src/config/config.ts';
import { complete, faultsOf, file, landRegistry, production, secret } from './environment.ts';

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
