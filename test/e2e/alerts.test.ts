// The alert rules on a running ledger: a real Prometheus scrapes each role, and each rule fires by the fault it names.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import test, { type ExecutionContext } from 'ava';
import { freePort } from '../../packages/embedded/free-port.ts';
import { recordVerified } from '../../src/audit/background-check/schedule.ts';
import { loadConfig } from '../../src/config/config.ts';
import { reloadConfig } from '../../src/config/reload.ts';
import { startHttp } from '../../src/roles/http.ts';
import type { Running } from '../../src/roles/lifecycle.ts';
import { type RoleName, startMonitoring } from '../../src/roles/monitoring.ts';
import { startProjections } from '../../src/roles/projections.ts';
import { startReactors } from '../../src/roles/reactors.ts';
import { openStores, type RoleDependencies } from '../../src/roles/stores.ts';
import { query, temporaryFolder, until } from '../embedded/helpers.ts';
import { append, emptyDatabase, log } from '../projections/helpers.ts';
import { paymentEvents } from '../reactors/helpers.ts';
import { hang, startReceiver, status } from '../reactors/receiver.ts';
import { startServerProcess } from '../support/event-store.ts';
import { settingsFor } from '../support/ledger.ts';
import { applied, chosen, mismatched, request, result } from '../support/payments.ts';
import { createDatabase } from '../support/postgres.ts';

const rulesFile = 'ops/alerts.yml';
const rules = readFileSync(rulesFile, 'utf8');
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
const day = 24 * 60 * 60_000;
const minute = 60_000;
const firesWithinMs = 120_000;

const has = (program: string) => {
  try {
    return execFileSync('sh', ['-c', `command -v ${program}`]).length > 0;
  } catch {
    return false;
  }
};
const withPrometheus =
  has('prometheus') && has('promtool') && has('setpriv') ? test.serial : test.serial.skip;

test('each rule has a runbook that the documentation has', (t) => {
  const urls = [
    ...rules.matchAll(/runbook_url: https:\/\/payments\.example\/docs\/([\w-]+)(?:#([\w-]+))?$/gm),
  ];
  t.is(urls.length, alerts.length);
  for (const [url, page, anchor] of urls) {
    const headings = [...readFileSync(`content/docs/${page}.md`, 'utf8').matchAll(/^#+ (.+)$/gm)];
    const anchors = headings.map(([, text = '']) =>
      text
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    t.true(anchor === undefined || anchors.includes(anchor), url);
  }
});

withPrometheus(
  'promtool accepts the rules and the example of a configuration (skipped without prometheus)',
  (t) => {
    t.regex(execFileSync('promtool', ['check', 'rules', rulesFile], { encoding: 'utf8' }), /SUCCESS/);
    t.regex(
      execFileSync('promtool', ['check', 'config', 'ops/prometheus.yml'], { encoding: 'utf8' }),
      /SUCCESS/,
    );
  },
);

withPrometheus(
  'a single refused result fires, and none fires again because a scrape was missing (skipped without prometheus)',
  async (t) => {
    const expected = (at: string, count: number) => ({
      eval_time: at,
      alertname: 'LedgerResultsRefused',
      exp_alerts: Array.from({ length: count }, () => ({
        exp_labels: { severity: 'ticket' },
        exp_annotations: {
          summary: 'About 1 results were refused within an hour and were not stored',
          runbook_url: 'https://payments.example/docs/monitoring#results-are-refused',
        },
      })),
    });
    const refused = (values: string, ...alert_rule_test: ReturnType<typeof expected>[]) => ({
      interval: '1m',
      input_series: [
        {
          series: 'ledger_http_request_duration_seconds_count{route="/generic/response",status="415"}',
          values,
        },
      ],
      alert_rule_test,
    });
    const tests = [
      refused('_x10 1x300', expected('15m', 1), expected('75m', 0)),
      refused('7x99 _x20 7x300', expected('130m', 0), expected('180m', 0)),
    ];
    const file = join(await temporaryFolder(t), 'tests.yml');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ rule_files: [resolve(rulesFile)], tests }));
    t.regex(execFileSync('promtool', ['test', 'rules', file], { encoding: 'utf8' }), /SUCCESS/);
  },
);

withPrometheus(
  'one receiver that is down opens a ticket, and pages nobody while deliveries are attempted (skipped without prometheus)',
  async (t) => {
    const runbook_url = 'https://payments.example/docs/operations#callbacks-pile-up';
    const stuck = {
      exp_labels: { severity: 'page', kind: 'callback' },
      exp_annotations: {
        summary: 'A delivery (callback) has been due for 25m 0s, and none is attempted',
        runbook_url,
      },
    };
    const waits = {
      exp_labels: { severity: 'ticket', kind: 'callback' },
      exp_annotations: {
        summary: 'A delivery (callback) has been due for 25m 0s, usually because its receiver is down',
        runbook_url,
      },
    };
    const due = (attempts: string, isStuck: boolean) => ({
      interval: '1m',
      input_series: [
        { series: 'ledger_deliveries_oldest_due_seconds{kind="callback"}', values: '0+60x25' },
        { series: 'ledger_delivery_attempts_total{kind="callback",outcome="failed"}', values: attempts },
      ],
      alert_rule_test: [
        { eval_time: '25m', alertname: 'LedgerDeliveriesStuck', exp_alerts: isStuck ? [stuck] : [] },
        { eval_time: '25m', alertname: 'LedgerDeliveriesWait', exp_alerts: [waits] },
      ],
    });
    const file = join(await temporaryFolder(t), 'tests.yml');
    const tests = [due('0+1x25', false), due('7x25', true)];
    writeFileSync(file, JSON.stringify({ rule_files: [resolve(rulesFile)], tests }));
    t.regex(execFileSync('promtool', ['test', 'rules', file], { encoding: 'utf8' }), /SUCCESS/);
  },
);

/** A disk of 16 megabytes; null where this account may not mount one. */
async function smallDisk(t: ExecutionContext): Promise<string | null> {
  const folder = join(await temporaryFolder(t), 'data');
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    t.log('no disk can be mounted: LedgerDiskNearlyFull is not tried');
    return null;
  }
  t.teardown(() => execFileSync('umount', ['--lazy', folder]));
  return folder;
}

/** Until 5 % is free: how much else is on it depends on the speed of the machine. */
function fill(disk: string): void {
  const { bavail, blocks, bsize } = statfsSync(disk);
  writeFileSync(join(disk, 'filler'), Buffer.alloc(Math.floor(bavail - 0.05 * blocks) * bsize));
}

/** The roles, each with a monitoring of its own as in processes of their own. `faults` changes what they see. */
async function startRoles(t: ExecutionContext, environment: Record<string, string>) {
  const faults = { timeMs: 0, machineMs: 0 };
  const config = loadConfig(
    {
      ...environment,
      PORT: '0',
      ADMIN_PORT: '0',
      REQUERY_SCHEDULE: 'off',
      VERIFY_SCHEDULE: 'off',
      SEAL_KEY: 'ab'.repeat(32),
    },
    {},
    { seals: true },
  );
  const stores = openStores(config, log, {
    ...systemRuntime,
    now: () => new Date(Date.now() + faults.machineMs),
  });
  const runtime = {
    ...stores.runtime,
    now: () => new Date(stores.runtime.now().getTime() + faults.timeMs),
    // So that the hourly check looks sooner.
    sleep: (ms: number, signal?: AbortSignal) => stores.runtime.sleep(ms === minute ? 500 : ms, signal),
  };
  const ports = new Map<string, number>();
  const begin = async <Role extends Running>(
    name: RoleName,
    start: (role: RoleDependencies) => Role | Promise<Role>,
  ) => {
    const monitoring = await startMonitoring({ ...stores, runtime }, { name, roles: [name] });
    const role = await start(monitoring.role);
    monitoring.enter('running');
    ports.set(name, monitoring.port);
    return { role, monitoring };
  };
  const projections = await begin('projections', startProjections);
  const reactors = await begin('reactors', startReactors);
  const http = await begin('http', startHttp);
  const otherConfig = { ...config };
  const other = await startMonitoring(
    { ...stores, config: otherConfig, runtime },
    { name: 'http', roles: ['http'] },
  );
  other.enter('running');
  ports.set('another http', other.port);
  t.teardown(async () => {
    for (const { role, monitoring } of [http, reactors, projections]) {
      await role.stop();
      await monitoring.stop();
    }
    await other.stop();
    await stores.stop();
  });
  const changed = () => loadConfig({ ...environment, MERCHANTS_FILE: '/nowhere' });
  return {
    faults,
    ports,
    http,
    /** Of another process of the HTTP role, of which there is only the monitoring. */
    otherConfig,
    eventStore: stores.eventStore,
    refuse: () => reloadConfig(config, changed, log),
  };
}

/** A witness that signs until it is told to refuse. What it signs with is not looked at. */
async function startWitness(t: ExecutionContext) {
  const signs = { isRefusing: false };
  const server = createServer((request, response) => {
    request.resume();
    if (signs.isRefusing) response.writeHead(409).end();
    else response.end('— witness.example/1 AAAAAAAA\n');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => void server.close());
  return { signs, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Does something again and again until something else has ended, in whatever way. */
async function whileRepeating(repeated: () => Promise<unknown>, work: () => Promise<void>): Promise<void> {
  let isEnding = false;
  const repeating = (async () => {
    while (!isEnding) await repeated();
  })();
  try {
    await work();
  } finally {
    isEnding = true;
    await repeating;
  }
}

/** Scrapes the ports every second, and evaluates the rules without waiting for their `for`. */
async function startPrometheus(t: ExecutionContext, ports: Iterable<number>) {
  const folder = await temporaryFolder(t);
  writeFileSync(join(folder, 'alerts.yml'), rules.replaceAll(/^ +for: .*\n/gm, ''));
  const targets = Array.from(ports, (port) => `127.0.0.1:${port}`);
  const settings = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    scrape_configs: [{ job_name: 'ledger', static_configs: [{ targets }] }],
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(settings));
  const port = await freePort();
  const prometheus = spawn(
    'setpriv',
    [
      // It ends with this process, even if that is killed.
      ...['--pdeathsig', 'KILL', 'prometheus'],
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: 'ignore' },
  );
  t.teardown(async () => {
    prometheus.kill('SIGTERM');
    if (prometheus.exitCode === null) await once(prometheus, 'exit');
  });
  const ask = async <Data>(path: string): Promise<Data | null> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`).catch(() => null);
    return answer?.ok ? ((await answer.json()) as { data: Data }).data : null;
  };
  const fired = new Set<string>();
  return {
    fired,
    /** The values of the result, by their `role`. */
    async values(expression: string): Promise<Record<string, string>> {
      type Found = { result: { metric: { role?: string }; value: [number, string] }[] };
      const found = await ask<Found>(`query?query=${encodeURIComponent(expression)}`);
      return Object.fromEntries(found?.result.map(({ metric, value }) => [metric.role, value[1]]) ?? []);
    },
    metricNames: async () => (await ask<string[]>('label/__name__/values')) ?? [],
    /** Waits until each of the alerts has fired. */
    async untilFired(names: readonly string[]): Promise<void> {
      const isSo = async () => {
        type Found = { alerts: { labels: { alertname: string }; state: string }[] };
        const found = await ask<Found>('alerts');
        for (const { labels } of found?.alerts ?? []) fired.add(labels.alertname);
        return names.every((name) => fired.has(name));
      };
      const endMs = Date.now() + firesWithinMs;
      while (!(await isSo()) && Date.now() < endMs) await sleep(300);
      t.deepEqual(
        names.filter((name) => !fired.has(name)),
        [],
        'did not fire',
      );
    },
  };
}

withPrometheus(
  'each role is scraped, and each rule fires by its fault (skipped without prometheus)',
  async (t) => {
    t.timeout(600_000);
    const database = await emptyDatabase(await createDatabase());
    const store = await startServerProcess(t);
    const disk = await smallDisk(t);
    const witness = await startWitness(t);
    const { faults, ports, http, eventStore, otherConfig, refuse } = await startRoles(t, {
      ...settingsFor({ esdbUrl: store.url, databaseUrl: database.url }),
      WITNESS_URLS: witness.url,
      DATA_DIR: disk ?? (await temporaryFolder(t)),
    });
    await recordVerified(database.db, new Date(), { checked: [], violations: [] });
    const { fired, metricNames, untilFired, values } = await startPrometheus(t, ports.values());

    // All is well.
    await until(async () => {
      const ready = await values('ledger_ready and on (instance) up');
      return ['http', 'projections', 'reactors'].every((role) => ready[role] === '1');
    }, 300);
    await until(async () => (await values('ledger_check_age_seconds')).projections !== undefined, 300);
    await sleep(2_000);
    await untilFired([]);
    // The machine may be busy with other tests.
    t.deepEqual(
      [...fired].filter((alert) => alert !== 'LedgerEventLoopDelayed'),
      [],
    );

    // Requests are counted by the pattern of their route: no id becomes a label, whatever is asked for.
    for (const path of ['api/v1/users/SECRET-1', 'api/v1/users/SECRET-2', 'SECRET-3'])
      await fetch(`http://127.0.0.1:${http.role.port}/${path}`);
    const shown = await (await fetch(`http://127.0.0.1:${http.monitoring.port}/metrics`)).text();
    t.regex(shown, /seconds_count\{[^}]*method="GET",route="\/api\/v1\/users\/:id",status="404"\} 2/);
    t.regex(shown, /seconds_count\{[^}]*method="",route="",status="404"\} 1/);
    t.notRegex(shown, /SECRET-\d/);

    // No result: the gateway sends it again and again.
    await whileRepeating(
      async () => {
        await fetch(`http://127.0.0.1:${http.role.port}/generic/response`, { method: 'POST', body: 'A=1' });
        await sleep(500);
      },
      () => untilFired(['LedgerResultsRefused']),
    );

    // What is stored goes wrong, and nine days pass.
    const [hanging, gone, failing] = [
      await startReceiver(t, hang),
      await startReceiver(t, status(410)),
      await startReceiver(t, status(500)),
    ];
    await append(eventStore, 'GONE', paymentEvents('GONE', gone.url, 'succeeded'));
    const requested = (transactionId: string) => ({
      type: 'PaymentRequested' as const,
      data: request({ transactionId, callbackUrl: '' }),
    });
    await append(eventStore, 'OPEN', [requested('OPEN'), chosen(1)]);
    await append(eventStore, 'WRONG', [requested('WRONG'), chosen(1), mismatched(result(1, 'succeeded'))]);
    await append(eventStore, 'UNREADABLE', [{ type: 'PaymentRequested', data: {} }]);
    const holder = connectPostgres({ url: database.url, log });
    const held = await holder.transaction();
    const release = async () => {
      if (!held.isCompleted()) await held.rollback();
    };
    t.teardown(async () => {
      await release();
      await holder.destroy();
    });
    await held.raw(`select from checkpoints where name = 'journal' for update`);
    await database.db.raw(`update checkpoints set version = version + 1 where name = 'details'`);
    await database.db.raw('insert into erased_keys.returned (keys) values (3)');
    await append(eventStore, 'LATER', [requested('LATER')]);
    if (disk) fill(disk);
    refuse();
    otherConfig.baseUrl = 'https://payments.example';
    const forged = { kind: 'changed events', count: 1, first: 'An event is not what was written' } as const;
    await recordVerified(database.db, new Date(), { checked: [], violations: [forged] });
    // Before the nine days: after them the next check is due, which finds nothing.
    const violations = JSON.stringify([forged]);
    await database.db.raw(`update last_check set result = jsonb_set(result::jsonb, '{violations}', ?)`, [
      violations,
    ]);
    await untilFired(['LedgerCheckFailed']);
    faults.timeMs = 9 * day;
    faults.machineMs = 10 * minute;
    for (const id of ['FAILS-1', 'FAILS-2', 'FAILS-3'])
      await append(eventStore, id, paymentEvents(id, failing.url, 'succeeded'));
    // For the reactors it has been due for nine days, as long as the attempt hangs.
    await append(eventStore, 'WAITS', paymentEvents('WAITS', hanging.url, 'succeeded'));
    // Nobody attempts it: LANDREG_BASE_URL is not set.
    const parcel = request({ transactionId: 'STUCK', channel: 'landreg', callbackUrl: '' });
    await append(eventStore, 'STUCK', [
      { type: 'PaymentRequested', data: parcel },
      chosen(1),
      applied(result(1, 'succeeded')),
    ]);
    await whileRepeating(
      async () => {
        for (const endMs = Date.now() + 600; Date.now() < endMs; );
        await sleep(200);
      },
      () => untilFired(['LedgerEventLoopDelayed']),
    );
    await untilFired([
      ...['LedgerNotReady', 'LedgerProjectionStopped', 'LedgerProjectionBehind', 'LedgerStreamParked'],
      ...['LedgerDeliveriesStuck', 'LedgerDeliveriesWait', 'LedgerDeliveriesFail', 'LedgerDeliveriesGivenUp'],
      ...['LedgerExceptionsOpen', 'LedgerRequeriesStuck'],
      ...[
        'LedgerConfigurationRefused',
        'LedgerConfigurationDiffers',
        'LedgerAttemptOpenTooLong',
        'LedgerNotSealed',
        'LedgerCheckFailed',
        'LedgerVerifyFailed',
        'LedgerClockWrong',
        'LedgerErasedKeysReturned',
      ],
      ...(disk ? ['LedgerDiskNearlyFull'] : []),
    ]);
    await release();

    // PostgreSQL takes nobody. When it does again, the sealer goes on, and the witness has stopped signing; keys are under
    // another data key.
    await database.db.raw(`update personal_data.key_blocks set kek_id = '00000000' where id = 'index'`);
    witness.signs.isRefusing = true;
    const name = new URL(database.url).pathname.slice(1);
    const server = new URL(database.url);
    server.pathname = '/postgres';
    await query(server.href, `alter database "${name}" with allow_connections false`);
    await query(
      server.href,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
    );
    await untilFired(['LedgerPostgresDown', 'LedgerChecksMissing']);
    await query(server.href, `alter database "${name}" with allow_connections true`);
    await untilFired(['LedgerWitnessMissing', 'LedgerDataKeysUnstored']);

    // The event store does not answer.
    store.signal('SIGSTOP');
    t.teardown(() => store.signal('SIGCONT'));
    const post = () =>
      fetch(`http://127.0.0.1:${http.role.port}/api/v1/users`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Aminah', email: 'aminah@agency.example' }),
      });
    await whileRepeating(
      async () => t.is((await post()).status, 503),
      () =>
        untilFired([
          'LedgerEventStoreDown',
          'LedgerMetricsMissing',
          'LedgerAppendsFail',
          'LedgerRequestsFail',
        ]),
    );
    store.signal('SIGCONT');

    // Whatever rules and dashboard name is there.
    const used =
      `${rules} ${readFileSync('ops/dashboard.json', 'utf8')}`.match(/\b(ledger|nodejs)_\w+/g) ?? [];
    const exposed = await metricNames();
    t.deepEqual(
      [...new Set(used)].filter((name) => !exposed.includes(name)),
      [],
    );

    // A process ends.
    await http.monitoring.stop();
    await untilFired(['LedgerDown']);
    const untried = disk ? [] : ['LedgerDiskNearlyFull'];
    t.deepEqual(
      alerts.filter((alert) => !fired.has(alert)),
      untried,
    );
  },
);
