// Secrets: where they are read from, how long they are, and that none is shared or quoted.
import { createHmac } from 'node:crypto';
import test from 'ava';
import { loadConfig } from '../../src/config/config.ts';
import { variables } from '../../src/config/environment-reader.ts';
import { complete, faultsOf, file, production, secret, spaceless } from './environment.ts';

test('a secret is read from the file that a variable names; both, and a file that is missing, are faults', (t) => {
  const GATEWAY_SECRET_FILE = file(t, `${secret}\n`);
  const config = loadConfig({ GATEWAY_SECRET_FILE }, complete);
  t.is(config.gateway.secret, secret);
  t.false(config.gateway.acceptUnsigned);
  t.true(config.files.includes(GATEWAY_SECRET_FILE));
  t.deepEqual(faultsOf(t, { ...complete, GATEWAY_SECRET_FILE, DATA_KEY: '', DATA_KEY_FILE: '/nowhere' }), [
    "DATA_KEY_FILE names a file that cannot be read: ENOENT: no such file or directory, stat '/nowhere'",
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

test('a file that a crash left full of zeros, or that is no text, is no secret', (t) => {
  // Under either key a result has the same checksum: without this, everybody could sign results.
  const checksums = ['', '\0'.repeat(32)].map((key) =>
    createHmac('sha256', key).update('STATUS=1').digest('hex'),
  );
  t.is(checksums[0], checksums[1]);
  const { GATEWAY_SECRET: _, ...others } = production(t);
  for (const content of ['\0'.repeat(32), `${secret}\0`, Buffer.from('ff'.repeat(32), 'hex')]) {
    const [fault, ...more] = faultsOf(t, { ...others, GATEWAY_SECRET_FILE: file(t, content) });
    t.is(fault, 'GATEWAY_SECRET_FILE names a file that cannot be read: it is not a text in UTF-8');
    t.true(more.every((each) => each.startsWith('GATEWAY_SECRET is not set')));
  }
});

test('a token that cannot be in a header is refused', (t) => {
  for (const REGISTRY_TOKEN of [`${secret}\n${secret}`, `${secret}é`])
    t.deepEqual(faultsOf(t, { ...complete, REGISTRY_TOKEN }), [
      'REGISTRY_TOKEN must have only ASCII characters, in one line',
    ]);
});

test('with a configured secret, unsigned results are refused', (t) => {
  t.false(loadConfig({ GATEWAY_SECRET: secret }, complete).gateway.acceptUnsigned);
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
      'DATA_KEY_PREVIOUS must be a comma-separated list of keys of 32 bytes in base64',
    ]);
  }
});

test('a process that seals the log needs the key, and no other does', (t) => {
  t.is(loadConfig({}, complete).sealKeys.current, '');
  t.throws(() => loadConfig({}, complete, { seals: true }), { message: /SEAL_KEY is not set/ });
  t.is(loadConfig({ SEAL_KEY: 'a'.repeat(64) }, complete, { seals: true }).sealKeys.current, 'a'.repeat(64));
  for (const SEAL_KEY of ['a'.repeat(63), 'a'.repeat(66), 'g'.repeat(64)])
    for (const name of ['SEAL_KEY', 'SEAL_KEY_PREVIOUS'])
      t.deepEqual(faultsOf(t, { ...complete, [name]: SEAL_KEY }), [`${name} must be 64 hexadecimal digits`]);
});

test('API keys are plain or hashed, long in production, and every one must be a key', (t) => {
  t.deepEqual(loadConfig({}, complete).apiKeys, [], 'none leaves the API open');
  t.deepEqual(loadConfig({ API_KEYS: 'a-short-key' }, complete).apiKeys, ['a-short-key']);
  for (const API_KEYS of [',', 'short', 'sha256:abc', `${secret},key with blanks`]) {
    const [fault, ...more] = faultsOf(t, { ...complete, API_KEYS });
    t.regex(fault ?? '', /^API_KEYS must be a comma-separated list/);
    t.deepEqual(more, []);
    t.false(fault?.includes('blanks'));
  }
  const inProduction = faultsOf(t, { ...complete, NODE_ENV: 'production', API_KEYS: 'a-short-key' });
  t.true(inProduction.some((fault) => fault.startsWith('API_KEYS must')));
});
