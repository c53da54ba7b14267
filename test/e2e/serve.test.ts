// `npm start` as a newcomer and as an accident meets it.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { AccessDeniedError, type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { createClient } from '@ledger/event-store/new-client.ts';
import { readEnd } from '@ledger/event-store/read.ts';
import test from 'ava';
import { SMTPServer } from 'smtp-server';
import { Webhook } from 'standardwebhooks';
import { readEndpoints } from '../../packages/embedded/endpoints.ts';
import { freePort } from '../../packages/embedded/free-port.ts';
import { dayOf } from '../../src/common/malaysian-time.ts';
import { isAlive, postgresPids, temporaryFolder, until } from '../embedded/helpers.ts';
import { requestBody } from '../http/landreg/helpers.ts';
import { runLedger, settingsFor } from '../support/ledger.ts';
import { folderWithCluster } from '../support/postgres.ts';
import { runs } from '../support/property-runs.ts';
import { wholeFile } from '../support/whole-file.ts';
import {
  gatewayResult,
  gatewaySecret,
  paymentRequest,
  postResult,
  requestPayment,
  startRole,
} from './ledger.ts';

// The tests are of one `ledger serve`, one after the other: it starts on a folder that others may read, lives through
// what happens to it, and is ended by the last.
const [port, sandboxPort] = [await freePort(), await freePort()];
const folder = await temporaryFolder(wholeFile);
const environment = { PORT: String(port), SANDBOX_PORT: String(sandboxPort), DATA_DIR: folder };
await chmod(folder, 0o755);
const projects = `http://localhost:${port}/api/v1/projects`;
let firstAnswer: Response | undefined;
const authorization = 'Bearer first-api-key';
/** Of one caller. There is always a request under way, and the machine has time for other tests. */
const betweenRequestsMs = 150;
// What is replaced while it runs.
const firstSealKey = '5ea1'.repeat(16);
const files = await temporaryFolder(wholeFile);
const merchantsFile = join(files, 'merchants.yaml');
const demoMerchants = await readFile(new URL('../../config/merchants.yaml', import.meta.url), 'utf8');
const hooks = ['first', 'second'].map(
  (name) => `whsec_${Buffer.from(name.padEnd(24, '.')).toString('base64')}`,
);
const [firstHook = '', secondHook = ''] = hooks;
/** The file with these keys and webhook secrets of the sample merchant. */
const merchantsWith = (keys: readonly string[], secrets: readonly string[]) =>
  demoMerchants.replace(
    / {6}- demo-key\n.*\n {4}webhook_secret: .*/,
    `${keys.map((key) => `      - ${key}\n`).join('')}    webhook_secret: [${secrets.join(', ')}]`,
  );
await writeFile(merchantsFile, merchantsWith(['demo-key'], [firstHook]));
// A mail server, which knows us by a password, and a merchant, who knows us by the webhook secret.
const mail = { accepted: ['first-password'], heard: 0, refused: 0 };
const mailServer = new SMTPServer({
  allowInsecureAuth: true,
  hideSTARTTLS: true,
  onAuth({ password }, _, callback) {
    const isKnown = mail.accepted.includes(password ?? '');
    mail[isKnown ? 'heard' : 'refused'] += 1;
    callback(isKnown ? null : new Error('Wrong password'), { user: 'ledger' });
  },
  onData: (stream, _, callback) => void stream.resume().on('end', () => callback()),
}).listen(await freePort(), '127.0.0.1');
wholeFile.teardown(() => new Promise<void>((resolve) => mailServer.close(() => resolve())));
const mailUrl = (password: string) =>
  `smtp://ledger:${password}@127.0.0.1:${(mailServer.address() as AddressInfo).port}`;
const merchant = { accepted: [firstHook], heard: 0, refused: 0, signatures: 0 };
const receiver = createServer(async (incoming, response) => {
  const body = await text(incoming);
  if (!merchant.accepted.some((secret) => isSigned(body, incoming.headers, secret))) merchant.refused += 1;
  merchant.heard += 1;
  merchant.signatures = String(incoming.headers['webhook-signature']).split(' ').length;
  response.end('OK');
}).listen(await freePort(), '127.0.0.1');
wholeFile.teardown(() => receiver.close());

function isSigned(body: string, headers: IncomingHttpHeaders, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

const secretFiles = Object.fromEntries(
  [
    ['GATEWAY_SECRET', gatewaySecret],
    ['GATEWAY_SECRET_PREVIOUS', ''],
    ['LANDREG_ACCESS_KEY', 'first-landreg-key'],
    ['LANDREG_ACCESS_KEY_PREVIOUS', ''],
    ['LANDREG_ACCESS_TOKEN', 'first-token'],
    ['REGISTRY_TOKEN', 'first-token'],
    ['API_KEYS', 'first-api-key'],
    ['SMTP_URL', mailUrl('first-password')],
    ['SEAL_KEY', firstSealKey],
    ['SEAL_KEY_PREVIOUS', ''],
  ].map(([name = '', value = '']) => {
    writeFileSync(join(files, name), value);
    return [`${name}_FILE`, join(files, name)];
  }),
);
// The transaction registry and the land registry, which know us by tokens.
const peers = { accepted: ['first-token'], asked: 0, reported: 0, refused: 0 };
const peer = createServer((incoming, response) => {
  const { authorization = '', 'access-token': token = authorization.replace('Bearer ', '') } =
    incoming.headers;
  if (!peers.accepted.includes(String(token))) peers.refused += 1;
  peers[incoming.method === 'POST' ? 'reported' : 'asked'] += 1;
  response.end(incoming.method === 'POST' ? '{"statusCode":"SUCCESS","noresit":"1"}' : '[]');
}).listen(await freePort(), '127.0.0.1');
wholeFile.teardown(() => peer.close());
await Promise.all([peer, receiver].map((server) => server.listening || once(server, 'listening')));
const peerUrl = `http://127.0.0.1:${(peer.address() as AddressInfo).port}`;
const served = {
  ...environment,
  REGISTRY_URL: peerUrl,
  LANDREG_BASE_URL: peerUrl,
  LANDREG_CALLBACK_PATH: '/callback',
  ...secretFiles,
  MERCHANTS_FILE: merchantsFile,
  RATE_LIMIT_FAILURES: '1000000',
};
const serve = await startRole(wholeFile, ['serve'], served, async (output) => {
  firstAnswer ??= await fetch(projects, { headers: { authorization } }).catch(() => undefined);
  return output.includes('is running');
});

/** An account of every Linux machine that owns nothing. */
const nobody = 65_534;

async function readStart(client: EventStoreDBClient): Promise<void> {
  for await (const _ of client.subscribeToAll()) return;
}

const idIn = async (answer: Response) =>
  ((await answer.json()) as { data: { transaction_id: string } }).data.transaction_id;

const transactionId = async () =>
  await idIn(await requestPayment(`http://localhost:${port}`, paymentRequest('SERVE-1')));

test.serial('the first answer of a first start has the lists, and a new user is in theirs', async (t) => {
  if (!firstAnswer) throw new Error('It ran without an answer');
  t.is(firstAnswer.status, 200);
  t.is(((await firstAnswer.json()) as unknown[]).length, 4, 'the sample projects');
  const users = `http://localhost:${port}/api/v1/users`;
  const headers = { authorization, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'Aminah', email: 'aminah@agency.example' });
  t.is((await fetch(users, { method: 'POST', headers, body })).status, 201);
  t.is(((await (await fetch(users, { headers })).json()) as unknown[]).length, 1);
});

test.serial('the shell of `npm start` becomes the ledger, so that a signal to npm reaches it', async (t) => {
  const { scripts } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  const command = String(scripts.start).replace('src/ledger.js serve', '--print process.pid');
  // As npm runs a script.
  const shell = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.is((await text(shell.stdout)).trim(), String(shell.pid));
});

test.serial('the data folder is for its owner alone, also one that was there before', async (t) => {
  t.is((await stat(folder)).mode & 0o777, 0o700);
  const files = (await readdir(folder)).filter((name) => /\.(json|db.*|lock)$|password/.test(name));
  for (const name of ['keys.json', 'endpoints.json', 'eventstore.db', 'eventstore-password'])
    t.true(files.includes(name), name);
  for (const name of files) t.is((await stat(join(folder, name))).mode & 0o777, 0o600, name);
});

test.serial(
  'another account of the machine gets nothing from the event store, commands of this one do',
  async (t) => {
    const { ESDB_URL: url = '' } = readEndpoints(folder);
    const without = url.replace(/\/\/.*@/, '//');
    const wrong = url.replace(/:[^:]*@/, ':wrong@');
    for (const address of [without, wrong]) {
      const client = createClient(address);
      t.teardown(() => client.dispose());
      const append = client.appendToStream('payment-FORGED', jsonEvent({ type: 'Paid', data: {} }));
      await t.throwsAsync(append, { message: /UNAUTHENTICATED/ });
      await t.throwsAsync(readEnd(client, false), { instanceOf: AccessDeniedError });
      await t.throwsAsync(readStart(client), { instanceOf: AccessDeniedError });
    }
    if (process.getuid?.() === 0)
      for (const name of ['eventstore-password', 'endpoints.json', 'eventstore.db', 'keys.json'])
        t.not(spawnSync('cat', [join(folder, name)], { uid: nobody, gid: nobody, cwd: '/' }).status, 0, name);
    const { code, stdout } = await runLedger(['users', 'list'], environment);
    t.is(code, 0);
    t.regex(stdout, /aminah@agency\.example/);
  },
);

test.serial('a role or a command whose credentials the stores refuse says so and ends', async (t) => {
  const stores = readEndpoints(folder);
  const settings = settingsFor({
    esdbUrl: (stores.ESDB_URL ?? '').replace(/:[^:]*@/, ':wrong@'),
    databaseUrl: (stores.DATABASE_URL ?? '').replace(/:[^:]*@/, ':wrong@'),
  });
  for (const args of [['http'], ['users', 'list']]) {
    const { code, output } = await runLedger(args, { ...settings, PORT: String(await freePort()) });
    t.is(code, 78);
    t.is(
      output,
      `The configuration is invalid:
  - ESDB_URL: the event store does not accept the user or the password
  - DATABASE_URL: PostgreSQL does not accept the user or the password
`,
    );
  }
});

test.serial('a second start on the same folder says so, and the first goes on', async (t) => {
  const second = await runLedger(['serve'], { ...environment, PORT: String(await freePort()) });
  t.is(second.code, 1);
  t.regex(second.output, /is in use by process \d+/);
  t.notRegex(second.output, /\n\s+at /, 'a sentence, no stack');
  t.is((await transactionId()).length, 26);
});

test.serial('a port that is taken is a sentence, and nothing stays behind', async (t) => {
  const other = {
    ...environment,
    DATA_DIR: await folderWithCluster(t),
    SANDBOX_PORT: String(await freePort()),
  };
  const { code, output } = await runLedger(['serve'], other);
  t.is(code, 1);
  t.is(output, `Port ${port} of 127.0.0.1 is in use. Set PORT to another port.\n`);
  await t.throwsAsync(readFile(join(other.DATA_DIR, 'postgres/data/postmaster.pid')));
});

test.serial('the start does not say that it runs while a store of its own does not answer', async (t) => {
  const [port, sandboxPort] = [await freePort(), await freePort()];
  const other = {
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
    DATA_DIR: await temporaryFolder(t),
    DATABASE_URL: 'postgres://127.0.0.1:9/nothing',
  };
  const waits = await startRole(t, ['serve'], other, async (output) => output.includes('Stop with Ctrl-C'));
  t.regex(waits.output(), /waits for a store that did not answer/);
  t.regex(waits.output(), /at DATABASE_URL, which did not answer/);
  t.notRegex(waits.output(), /is running|Request a payment/);
});

test.serial(
  'every secret is replaced under load, without a restart and without one refused request',
  async (t) => {
    const base = `http://localhost:${port}`;
    const id = await transactionId();
    const used = {
      gateway: gatewaySecret,
      landreg: 'first-landreg-key',
      merchant: 'demo-key',
      api: 'first-api-key',
      registry: 'demo-key',
    };
    const get = (path: string, key: string, headers = {}) =>
      fetch(`${base}${path}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
    const asMerchant = { 'x-merchant-code': 'demo-app' };
    const ask = {
      gateway: (secret: string) => postResult(base, gatewayResult(id, { STATUS: '0' }, secret)),
      landreg: (key: string) => get('/landreg/check?transaksi_id=1', key),
      merchant: (key: string) => get('/generic/check', key, asMerchant),
      api: (key: string) => get('/api/v1/projects', key),
      /** Each asks the registry; `peers` says what it got. */
      registry: (key: string) => get('/generic/requery/SERVE-1', key, asMerchant),
    };
    const callers = ['gateway', 'landreg', 'merchant', 'api', 'registry'] as const;
    /** Requests a payment, which is paid, and counts what is refused. */
    const pay = async (channel: 'generic' | 'landreg', key: string, body: unknown, result = {}) => {
      const answer = await fetch(`${base}/${channel}/request`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          accept: 'application/json',
        },
        body: JSON.stringify(body),
      });
      const paid = gatewayResult(await idIn(answer), result, used.gateway);
      const recorded = await postResult(base, paid, channel);
      if (answer.status === 401 || recorded.status === 401) refused += 1;
    };
    const callback_url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    /** One is reported to the land registry; the other is called back and receipted. */
    const payBoth = (number: number) =>
      Promise.all([
        pay('landreg', used.landreg, requestBody({ transaksi_id: `ROTATED-${number}` }), {
          MERCHANT_CODE: 'ptgnm-app',
        }),
        pay('generic', used.merchant, paymentRequest(`ROTATED-${number}`, { callback_url })),
      ]);
    const isRefused = async (caller: keyof typeof used, secret: string) =>
      (await ask[caller](secret)).status === 401;
    let [isDone, asked, refused] = [false, 0, 0];
    const load = Promise.all(
      callers.map(async (caller) => {
        for (; !isDone; asked += 1) {
          if (await isRefused(caller, used[caller])) refused += 1;
          await sleep(betweenRequestsMs);
        }
      }),
    );
    const payments = (async () => {
      for (let number = 1; !isDone; number += 1) {
        await payBoth(number);
        await sleep(betweenRequestsMs);
      }
    })();
    const next = {
      gateway: 'the next secret of the gateway',
      landreg: 'second-landreg-key',
      merchant: 'second-key',
      api: 'second-api-key',
      registry: 'second-key',
    };
    const set = async (secrets: Record<string, string>, keys: string[], signedWith = [secondHook]) => {
      for (const [name, value] of Object.entries(secrets)) await writeFile(join(files, name), `${value}\n`);
      await writeFile(merchantsFile, merchantsWith(keys, signedWith));
      serve.signal('SIGHUP');
    };
    const accepts = async (caller: keyof typeof used, secret: string) =>
      await until(async () => !(await isRefused(caller, secret)));

    await until(() => peers.asked > 0 && peers.reported > 0 && merchant.heard > 0 && mail.heard > 0);
    peers.accepted.push('second-token');
    mail.accepted.push('second-password');
    await set(
      {
        GATEWAY_SECRET_PREVIOUS: next.gateway,
        LANDREG_ACCESS_KEY_PREVIOUS: next.landreg,
        API_KEYS: 'first-api-key,second-api-key',
        LANDREG_ACCESS_TOKEN: 'second-token',
        REGISTRY_TOKEN: 'second-token',
        SMTP_URL: mailUrl('second-password'),
      },
      ['demo-key', 'second-key'],
      hooks,
    );
    await until(() => merchant.signatures === 2);
    for (const caller of callers) await accepts(caller, next[caller]);
    Object.assign(used, next);
    // What was signed with the first secret alone has arrived.
    const heard = merchant.heard;
    await until(() => merchant.heard > heard + 2);
    merchant.accepted = [secondHook];
    await set(
      {
        GATEWAY_SECRET: next.gateway,
        GATEWAY_SECRET_PREVIOUS: gatewaySecret,
        LANDREG_ACCESS_KEY: next.landreg,
        LANDREG_ACCESS_KEY_PREVIOUS: '',
        API_KEYS: 'second-api-key',
        SEAL_KEY_PREVIOUS: firstSealKey,
        SEAL_KEY: '07e4'.repeat(16),
      },
      ['second-key'],
    );
    await until(async () => await isRefused('merchant', 'demo-key'));
    t.true(await isRefused('api', 'first-api-key'));
    // What was under way with the first token has arrived.
    const [reported, mailed] = [peers.reported, mail.heard];
    await until(() => peers.reported > reported + 2 && mail.heard > mailed + 2);
    peers.accepted.shift();
    mail.accepted.shift();
    await until(() => merchant.signatures === 1);
    t.false(await isRefused('gateway', gatewaySecret), 'a result that is on its way');
    t.true(await isRefused('landreg', 'first-landreg-key'));

    await writeFile(merchantsFile, 'merchants: nobody');
    await until(() => serve.output().includes('the previous one stays in use'));
    t.false(await isRefused('merchant', 'second-key'));
    await set({ GATEWAY_SECRET: gatewaySecret, GATEWAY_SECRET_PREVIOUS: next.gateway }, [
      'demo-key',
      'second-key',
    ]);
    await accepts('merchant', 'demo-key');
    isDone = true;
    await Promise.all([load, payments]);
    await set({ API_KEYS: '' }, ['demo-key', 'second-key']);
    await until(() => serve.output().includes('API_KEYS_FILE names an empty file'));
    t.true(await isRefused('api', 'no-api-key'), 'without a key it would be open to all');
    await set({ API_KEYS: next.api }, ['demo-key', 'second-key']);
    t.true(asked > 50);
    t.is(refused + peers.refused + merchant.refused + mail.refused, 0);
  },
);

/** Requests payments one after the other until it is stopped; `acknowledged` are their ids. */
function keepRequesting(round: number) {
  const acknowledged: string[] = [];
  let isStopped = false;
  const requesting = (async () => {
    for (let count = 0; !isStopped; count += 1) {
      const body = paymentRequest(`LOAD-${round}-${count}`, { name: `Payer ${round} ${count}` });
      acknowledged.push(await idIn(await requestPayment(`http://localhost:${port}`, body)));
      await sleep(betweenRequestsMs);
    }
  })();
  const stop = async () => {
    isStopped = true;
    await requesting;
  };
  return { acknowledged, stop };
}

test.serial('a development ledger is filled with payments of all outcomes', async (t) => {
  const { code, output } = await runLedger(['load', '--payments', '30'], {
    ...environment,
    GATEWAY_SECRET: gatewaySecret,
  });
  t.is(code, 0, output);
  const today = dayOf(new Date().toISOString());
  const expected = { succeeded: 28, failed: 1, pending: 1 };
  const found = await until(async () => {
    const { stdout } = await runLedger(
      ['export', '--format', 'csv', '--from', today, '--to', today],
      environment,
    );
    const loaded = stdout.split('\n').filter((line) => line.includes('LOAD-'));
    const count = (status: string) => loaded.filter((line) => line.includes(`,${status},`)).length;
    return (
      loaded.length === 30 && {
        succeeded: count('succeeded'),
        failed: count('failed'),
        pending: count('pending'),
      }
    );
  }, 1_000);
  t.deepEqual(found, expected);
  t.is((await runLedger(['load', '--payments', '0'], environment)).code, 2);
  const wrongKey = await runLedger(['load', '--payments', '1', '--key', 'none'], environment);
  t.deepEqual([wrongKey.code, / answers 401: /.test(wrongKey.output)], [1, true]);
});

// Each takes several seconds: ten times with PROPERTY_RUNS=1, and once otherwise.
for (const round of Array(runs(10) < 10 ? 1 : 10).keys())
  test.serial(
    `a backup under load becomes a ledger with everything acknowledged before it (${round})`,
    async (t) => {
      const backup = join(await temporaryFolder(t), 'backup');
      const load = keepRequesting(round);
      await until(() => load.acknowledged.length > 0);
      await sleep(200 + Math.random() * 2_000);
      const before = load.acknowledged.length;
      const beganMs = Date.now();
      const made = await runLedger(['backup', backup], environment);
      const status = await runLedger(['status', '--json'], environment);
      const found = JSON.parse(status.stdout);
      t.like(found, { status: 'ok', eventStore: 'up', postgres: 'up', exceptions: { unmatched: 0 } });
      t.is(status.code, 0);
      t.true(Date.parse(found.lastBackup) >= beganMs);
      t.true(found.lastSeal.events > 0);
      const leads = found.processes.flatMap((each: { leads: string[] }) => each.leads).toSorted();
      t.deepEqual(leads, found.projections.map((each: { name: string }) => each.name).toSorted());
      await load.stop();
      t.is(made.code, 0, made.output);
      t.regex(made.output, /keys\.json is secret/);
      t.true(before > 0 && load.acknowledged.length > before, 'there was load before and during the backup');
      t.regex((await runLedger(['restore', backup], environment)).output, /is not empty/);

      const [ownPort, ownSandboxPort] = [await freePort(), await freePort()];
      const restored = {
        PORT: String(ownPort),
        SANDBOX_PORT: String(ownSandboxPort),
        DATA_DIR: await temporaryFolder(t),
        SEAL_KEY: firstSealKey,
      };
      const done = await runLedger(['restore', backup], restored);
      t.is(done.code, 0, done.output);
      const other = await startRole(t, ['serve'], restored, (output) => output.includes('is running'));
      const payers = await Promise.all(
        load.acknowledged.slice(0, before).map(async (id, count) => {
          const receipt = await fetch(`http://localhost:${ownPort}/generic/receipt/${id}`);
          return {
            count,
            status: receipt.status,
            isNamed: (await receipt.text()).includes(`Payer ${round} ${count}`),
          };
        }),
      );
      t.deepEqual(
        payers.filter(({ status, isNamed }) => status !== 200 || !isNamed),
        [],
      );
      const verified = await until(async () => {
        const { code, output } = await runLedger(['verify'], restored);
        return /behind/.test(output) ? undefined : { code, output };
      });
      t.is(verified.code, 0, verified.output);
      await other.stop();

      const elsewhere = { DATA_DIR: join(files, 'restored') };
      await writeFile(join(backup, 'eventstore.db'), 'cut off');
      const cut = await runLedger(['restore', backup], elsewhere);
      t.is(cut.output, `eventstore.db in ${backup} is not as it was written.\n`);
      t.regex((await runLedger(['restore', files], elsewhere)).output, /is not a backup/);
      t.regex((await runLedger(['backup', files], environment)).output, /exists and is not overwritten/);
      t.false((await readdir(files)).includes('restored'));
    },
  );

test.serial(
  'kill -9 of everything at once: the next start goes on with the same payments and leaves nothing behind',
  async (t) => {
    const before = await transactionId();
    const { postmaster } = await postgresPids(folder);
    const { ESDB_URL: old = '' } = readEndpoints(folder);
    await serve.crash();
    await until(() => !isAlive(postmaster));
    t.is(await transactionId(), before, 'the key that ids are derived from is kept');
    const receipt = await fetch(`http://localhost:${port}/generic/receipt/${before}`);
    t.is(receipt.status, 200);
    const { output } = await until(async () => {
      const shown = await runLedger(['seals'], environment);
      return shown.output.startsWith('For checkpoints of 0 to ') && shown;
    }, 500);
    t.regex(output, /^For checkpoints of \d+ or more events$/m, 'one seal key has handed over to the other');
    // What an account got that listened at the old address and waited for a command to send the password.
    const { ESDB_URL: url = '' } = readEndpoints(folder);
    const client = createClient(
      url.replace(/\/\/.*@/, `//${old.slice('esdb://'.length, old.indexOf('@'))}@`),
    );
    t.teardown(() => client.dispose());
    const forged = client.appendToStream('payment-FORGED', jsonEvent({ type: 'Paid', data: {} }));
    await t.throwsAsync(forged, { message: /UNAUTHENTICATED/ });
  },
);

test.serial(
  'SIGTERM drains: a request that is under way is answered, what it did is there, and the admin port says so',
  async (t) => {
    const address = /"address":"([^"]+)","msg":"admin port listening"/g;
    const admin = [...serve.output().matchAll(address)].at(-1)?.[1];
    // On a busy machine a store may answer too late for once.
    await until(async () => (await fetch(`${admin}/readyz`)).status === 200);
    const body = JSON.stringify(paymentRequest('DRAINED'));
    const sending = request({
      port,
      host: '127.0.0.1',
      path: '/generic/request',
      method: 'POST',
      headers: {
        authorization: 'Bearer demo-key',
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        // The server's "continue" tells us that it has begun.
        expect: '100-continue',
      },
    });
    sending.flushHeaders();
    await once(sending, 'continue');
    const stopped = serve.stop();
    await until(() => serve.output().includes('stopping'));
    const readiness = await until(async () => {
      const answer = await fetch(`${admin}/readyz`);
      return answer.status === 503 && answer;
    });
    t.like(await readiness.json(), { role: 'serve', reasons: ['the process is stopping'] });
    t.is((await fetch(`${admin}/livez`)).status, 200);
    sending.end(body);
    const [answer] = await once(sending, 'response');
    t.is(answer.statusCode, 200);
    answer.resume();
    t.is(await stopped, 0);
  },
);

test('faults of the configuration are all named before anything starts', async (t) => {
  const { code, output } = await runLedger(['serve'], {
    ...environment,
    DATA_DIR: await temporaryFolder(t),
    NODE_ENV: 'production',
    PORT: 'x',
  });
  t.is(code, 78);
  for (const name of [
    'PORT',
    'BASE_URL',
    'TRANSACTION_ID_KEY',
    'LINK_KEY',
    'DATA_KEY',
    'GATEWAY_SECRET',
    'GATEWAY_URL',
    'REGISTRY_URL',
  ])
    t.true(output.includes(name), name);
});

test('help lists the commands; an unknown one is an error', async (t) => {
  const help = await runLedger(['help'], {});
  t.is(help.code, 0);
  for (const command of ['serve', 'http', 'projections', 'eventstore'])
    t.true(help.output.includes(`  ${command}`));
  const unknown = await runLedger(['server'], {});
  t.is(unknown.code, 2);
  t.true(unknown.output.includes('Unknown command server'));
});
