// The addresses of stores, other systems and this process: which are read, and which are a fault.
import test from 'ava';
import { loadConfig } from '../../src/config/config.ts';
import { complete, faultsOf, landRegistry } from './environment.ts';

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
    'WITNESS_URLS must be a comma-separated list of URLs, without user names and passwords',
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
