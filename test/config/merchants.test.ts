// The file of merchants and that of payment methods: faults name keys, and never values.
import test from 'ava';
import { loadConfig } from '../../src/config/config.ts';
import { loadMerchants } from '../../src/config/merchants.ts';
import { complete, faultsOf, file } from './environment.ts';

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
  for (const wrong of [
    '"https://pay.example"',
    '"pay.example:8443"',
    'pay.example/paid',
    '"pay example"',
    '"*.example"',
  ])
    t.regex(
      faultsOf(t, { ...complete, MERCHANTS_FILE: withHosts(`pay.example, ${wrong}`) }).join(),
      /redirect_hosts\.1 is not valid \(the name of a host/,
      wrong,
    );
});

test('a code of digits is kept as it is written', (t) => {
  const text =
    'merchants:\n  007: { name: A, id: 1, api_keys: [a-key-of-a] }\n  1e3: { name: B, id: 2, api_keys: [a-key-of-b] }\n';
  t.deepEqual([...loadMerchants(file(t, text), false).keys()], ['007', '1e3']);
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

test('a method that the file leaves out is not offered', (t) => {
  const methods = file(t, 'methods: { cc: { charge: "1.50", max: 500 } }');
  const config = loadConfig({ ...complete, PAYMENT_METHODS_FILE: methods });
  t.deepEqual([...config.methods.keys()], ['cc']);
  t.is(config.methods.get('cc')?.chargeSen as number, 150);
  t.is(config.methods.get('cc')?.maxSen as number, 50_000);
});
