import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { retry } from '@ledger/kernel/retry.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import type { LeaderElection } from '@ledger/postgres/leader-election.ts';
import { candidaciesFor } from '@ledger/postgres/leader-locks.ts';
import { repeatAsLeader } from '@ledger/postgres/leader-loop.ts';
import { connectPostgres, createClient } from '@ledger/postgres/pool.ts';
import test from 'ava';
import { until } from '../embedded/helpers.ts';
import { startWire } from '../event-store/helpers.ts';
import { log } from '../projections/helpers.ts';
import { electionOn } from '../support/leader-election.ts';
import { createDatabase } from '../support/postgres.ts';
import { testRuntime } from '../support/runtime.ts';

test('a leader that is stopped loses the lead, and does not take it for kept when it continues', async (t) => {
  t.timeout(90_000);
  const { url } = await createDatabase();
  const child = fork(fileURLToPath(new URL('./leader-child.ts', import.meta.url)), [url]);
  t.teardown(() => child.kill('SIGKILL'));
  t.deepEqual(await once(child, 'message').then(([message]) => message), 'leads');
  child.kill('SIGSTOP');
  const { signal } = new AbortController();
  t.true(await electionOn(url).lead('work', { signal }, async () => true));
  const lost = once(child, 'message');
  child.kill('SIGCONT');
  t.deepEqual((await lost)[0], 'lost');
});

const names = ['details', 'journal', 'payments', 'projects', 'unmatched', 'users'];

const faster = (times: number) =>
  testRuntime({
    monotonicMs: () => systemRuntime.monotonicMs() * times,
    sleep: (ms, signal) => systemRuntime.sleep(ms / times, signal),
  });

test('a process that joins is given half of the leaderships, one at a time has each, and they come back when it leaves', async (t) => {
  const { url } = await createDatabase();
  const runtime = faster(20);
  const leading = new Map<string, string[]>(names.map((name) => [name, []]));
  let changes = 0;
  const join = (process: string) => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const election = electionOn(url, runtime);
    const all = names.map((name) =>
      election.lead(name, { signal }, async (lead) => {
        const leaders = leading.get(name) ?? [];
        leaders.push(process);
        changes += 1;
        t.is(leaders.length, 1, `${name}: ${leaders}`);
        if (!lead.aborted) await once(lead, 'abort');
        leaders.splice(leaders.indexOf(process), 1);
      }),
    );
    const leave = async () => {
      leaving.abort();
      await Promise.all(all);
    };
    t.teardown(leave);
    return leave;
  };
  const count = (process: string) => [...leading.values()].filter(([leader]) => leader === process).length;
  join('one');
  await until(() => count('one') === 6);
  const leave = join('two');
  await until(() => count('one') === 3 && count('two') === 3);
  const before = changes;
  await systemRuntime.sleep(1_000);
  t.is(changes, before, 'several heartbeats later nothing has moved');
  await leave();
  await until(() => count('one') === 6);
});

test('nobody gives a lead to a process whose work has failed, until a minute has passed', async (t) => {
  const { url } = await createDatabase();
  let skippedMs = 0;
  const quick = faster(20);
  const runtime = { ...quick, monotonicMs: () => quick.monotonicMs() + skippedMs };
  const leading = new AbortController();
  const { signal } = leading;
  t.teardown(() => leading.abort());
  const leaders: string[] = [];
  const lead = (process: string, election: LeaderElection, name: string) =>
    election.lead(name, { signal }, async (led) => {
      leaders.push(process);
      if (!led.aborted) await once(led, 'abort');
    });
  const pair = ['details', 'journal'];
  const ill = electionOn(url, runtime);
  const fails = () => Promise.reject(new Error('It cannot work'));
  for (const name of pair)
    await t.throwsAsync(ill.lead(name, { signal }, fails), { message: 'It cannot work' });
  const well = electionOn(url, runtime);
  const all = pair.map((name) => lead('well', well, name));
  await until(() => leaders.length === 2);
  all.push(...pair.map((name) => lead('ill', ill, name)));
  // At this pace a heartbeat takes a quarter of a second.
  await systemRuntime.sleep(1_000);
  t.deepEqual(leaders, ['well', 'well']);
  skippedMs = 60_000;
  await until(() => leaders.includes('ill'));
  leading.abort();
  await Promise.all(all);
});

test('a process that does not end its work quietly when it gives up a lead stands by like others', async (t) => {
  const { url } = await createDatabase();
  const db = connectPostgres({ url, log });
  const leaving = new AbortController();
  t.teardown(async () => {
    leaving.abort();
    await db.destroy();
  });
  const quick = faster(20);
  let stoppedMs = Number.POSITIVE_INFINITY;
  const runtime = { ...quick, monotonicMs: () => Math.min(quick.monotonicMs(), stoppedMs) };
  const { signal } = leaving;
  const pair = ['details', 'journal'];
  const join = (election: LeaderElection) => {
    for (const name of pair)
      void retry(
        () =>
          election.lead(name, { signal }, async (leading) => {
            await once(leading, 'abort');
            // No time passes any more, so a minute neither.
            stoppedMs = quick.monotonicMs();
            throw leading.reason;
          }),
        { runtime: quick, signal },
      ).catch(() => {});
  };
  const led = async (is: boolean) =>
    (await candidaciesFor(db, pair)).filter(({ leads }) => leads === is).length;
  join(electionOn(url, runtime));
  await until(async () => (await led(true)) === 2);
  join(electionOn(url, runtime));
  await until(() => stoppedMs < Number.POSITIVE_INFINITY);
  await until(async () => (await led(true)) === 2 && (await led(false)) === 2);
  t.pass();
});

test('all leaderships of a process are in one session: they are lost together, and one that is done is free', async (t) => {
  const { url } = await createDatabase();
  const db = connectPostgres({ url, log });
  t.teardown(() => db.destroy());
  const { signal } = new AbortController();
  const one = electionOn(url);
  let begun = 0;
  const work = async (led: AbortSignal) => {
    begun += 1;
    await once(led, 'abort');
  };
  const done = Promise.withResolvers<void>();
  const first = one.lead('first', { signal }, () => done.promise);
  const others = ['second', 'third'].map((name) => one.lead(name, { signal }, work));
  await until(() => begun === 2);
  const sessions = () =>
    db('pg_stat_activity')
      .select('pid')
      .where({ application_name: 'ledger leader election' })
      .whereRaw('datname = current_database()');
  t.is((await sessions()).length, 1);
  const two = electionOn(url);
  t.is(await two.lead('first', { signal, waits: false }, async () => 'led'), null);
  done.resolve();
  await first;
  t.is(await two.lead('first', { signal, waits: false }, async () => 'led'), 'led');
  t.is(await two.lead('second', { signal, waits: false }, async () => 'led'), null);
  await t.throwsAsync(
    one.lead('second', { signal }, async () => {}),
    { message: /asks for second twice/ },
  );
  const [{ pid }] = await sessions();
  await db.raw('select pg_terminate_backend(?)', [pid]);
  for (const other of others) await t.throwsAsync(other);
  t.is(await one.lead('second', { signal }, async () => 'again'), 'again', 'in a new session');
  t.is((await sessions()).length, 0, 'which ends with the last lead');
});

test('work is repeated by one process at a time, after a failure too, and by another once that one is stopped', async (t) => {
  const { url } = await createDatabase();
  const done: string[] = [];
  const failures: unknown[] = [];
  const runtime = testRuntime({ sleep: (ms, signal) => systemRuntime.sleep(Math.min(ms, 20), signal) });
  const start = (process: string) =>
    repeatAsLeader(
      {
        election: electionOn(url, runtime),
        name: 'repeated',
        everyMs: 10,
        runtime,
        onFailure: (error) => failures.push(error),
      },
      async () => {
        done.push(process);
        if (done.length === 3) throw new Error('Once');
      },
    );
  const first = start('one');
  await until(() => done.length > 1);
  const second = start('two');
  await until(() => done.length > 9);
  t.is(failures.length, 1);
  await first.stop();
  await until(() => done.at(-1) === 'two');
  await second.stop();
  const stopped = done.length;
  await systemRuntime.sleep(100);
  t.is(done.length, stopped);
});

test('a lead that is taken for one that leaves meanwhile is free again', async (t) => {
  const { url } = await createDatabase();
  const db = connectPostgres({ url, log });
  // The answers of PostgreSQL take a while.
  const relay = createServer((near) => {
    const far = connect(Number(new URL(url).port), '127.0.0.1');
    near.pipe(far).on('data', (answer) => setTimeout(() => near.write(answer), 200));
    near.on('error', () => {}).on('close', () => far.destroy());
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const slowUrl = new URL(url);
  slowUrl.port = String((relay.address() as AddressInfo).port);
  const election = electionOn(slowUrl.href);
  const enter = (name: string) => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const ended = election.lead(
      name,
      { signal },
      async (led) => void (led.aborted || (await once(led, 'abort'))),
    );
    return () => {
      leaving.abort();
      return ended;
    };
  };
  const led = async () => (await candidaciesFor(db, ['one', 'two'])).filter((each) => each.leads).length;
  // Keeps the session.
  const leaveLast = enter('last');
  const [leaveOne, leaveTwo] = [enter('one'), enter('two')];
  t.teardown(async () => {
    await leaveLast();
    relay.close();
    await db.destroy();
  });
  await until(async () => (await led()) === 2, 10);
  const one = leaveOne();
  await until(async () => (await led()) === 1, 10);
  await Promise.all([one, leaveTwo()]);
  t.is(await led(), 0);
});

test('all leaderships are lost when PostgreSQL stops answering, whatever one of them still does', async (t) => {
  t.timeout(60_000);
  const { url } = await createDatabase();
  const relayUrl = new URL(url);
  const wire = await startWire(t, Number(relayUrl.port));
  relayUrl.port = String(wire.port);
  const election = electionOn(relayUrl.href);
  const { signal } = new AbortController();
  // Waits as long as whatever the session would still ask.
  const client = createClient(relayUrl.href, 'beside it');
  client.on('error', () => {});
  await client.connect();
  const unanswered = Promise.withResolvers<string>();
  const longer = Promise.withResolvers<void>();
  let begun = 0;
  const works = names.map((name) =>
    election.lead(name, { signal }, async (led) => {
      begun += 1;
      await once(led, 'abort');
      if (name !== names[0]) return;
      client.query('select 1').catch(() => unanswered.resolve('a query'));
      await longer.promise;
    }),
  );
  await until(() => begun === names.length);
  wire.lost.answers = true;
  const [first, ...others] = works.map((work) => t.throwsAsync(work));
  const end = await Promise.race([Promise.all(others).then(() => 'the others'), unanswered.promise]);
  t.is(end, 'the others', 'they ask nothing more of it');
  longer.resolve();
  await first;
});
