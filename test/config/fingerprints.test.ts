// Processes that are configured alike have the same fingerprints, and one that is not is found by its variable.
import test from 'ava';
import { loadConfig } from '../../src/config/config.ts';
import { configurationFingerprints } from '../../src/config/fingerprints.ts';
import { settingsFor } from '../support/ledger.ts';

const settings = settingsFor({ esdbUrl: 'esdb://127.0.0.1:9', databaseUrl: 'postgres://127.0.0.1:9/none' });

function fingerprintsOf(given: Record<string, string> = {}): Record<string, number> {
  const readings = configurationFingerprints(loadConfig({ ...settings, ...given }));
  return Object.fromEntries(readings.map(([, value, of = '']) => [of, value]));
}

const alike = fingerprintsOf();

const differing = (given: Record<string, string>) =>
  Object.entries(fingerprintsOf(given)).flatMap(([of, value]) => (alike[of] === value ? [] : of));

test('the same configuration has the same fingerprints, which are exact as numbers', (t) => {
  t.deepEqual(fingerprintsOf(), alike);
  t.true(Object.values(alike).every(Number.isSafeInteger));
  t.is(new Set(Object.values(alike)).size, Object.keys(alike).length, 'also where two have the same value');
});

for (const [variable, value, named = variable] of [
  ['API_KEYS', 'another-key-of-the-tests'],
  ['APPROVAL_ABOVE_RM', '250.00'],
  ['BASE_URL', 'http://other.example'],
  ['GATEWAY_SECRET', 'another-secret'],
  ['GATEWAY_SECRET_PREVIOUS', 'an-earlier-secret', 'GATEWAY_SECRET'],
  ['LANDREG_ACCESS_KEY', 'another-access-key'],
  ['MAX_AMOUNT_RM', '12.00'],
] as const)
  test(`another ${variable} is told`, (t) => {
    t.deepEqual(differing({ [variable]: value }), [named]);
  });

test('what a process alone has is not compared', (t) => {
  t.deepEqual(differing({ ADMIN_PORT: '9999', DATA_DIR: '/elsewhere', LOG_LEVEL: 'error' }), []);
});

test('without TRANSACTION_ID_KEY nobody can try values against a fingerprint', (t) => {
  t.deepEqual(differing({ TRANSACTION_ID_KEY: 'another-key-that-derives-ids' }), Object.keys(alike));
});
