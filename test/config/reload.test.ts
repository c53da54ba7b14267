// What is adopted while a process runs.
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { pino } from 'pino';
import { loadConfig } from '../../src/config/config.ts';
import { reloadConfig } from '../../src/config/reload.ts';
import { complete, faultsOf, file } from './environment.ts';

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
    { msg: 'a change of these requires a restart', variables: ['LINK_KEY'] },
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
  t.like(logged, [{ msg: 'the changed configuration is invalid: the previous one stays in use' }]);
  t.is(load().merchants.size, 0);
  writeFileSync(merchants, before);
  reloadConfig(config, load, log);
  t.deepEqual(config.refused, []);
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
