/**
 * Sessions of the simulated PostgreSQL: what they hear, and how long they wait for a lock. Serial, because a scheduler waits
 * until its process has nothing left to do, which two of them would never have.
 */
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { createHistory } from './engine/history.ts';
import { createNetwork } from './engine/network.ts';
import { createProcess } from './engine/process.ts';
import { createRandom } from './engine/random.ts';
import { createScheduler } from './engine/scheduler.ts';
import { SimulatedSocket } from './engine/socket.ts';
import { createPostgres } from './stores/postgres.ts';
import { startPostgresServer } from './stores/postgres-server.ts';

type Session = { client: pg.Client; heard: string[] };

/** Plays with sessions that `open` makes; in simulated time, as the program of a process. */
async function playIn(
  t: ExecutionContext,
  play: (at: {
    open(): Promise<Session>;
    sleep(ms: number): Promise<void>;
    nowMs(): number;
  }) => Promise<void>,
): Promise<void> {
  t.timeout(120_000);
  const server = await startPostgresServer();
  t.teardown(server.stop);
  const scheduler = createScheduler(0);
  const random = createRandom('sessions');
  const history = createHistory(scheduler.nowMs, 0);
  const network = createNetwork({ scheduler, random, history });
  const machine = createProcess({ name: 'postgres', scheduler, random });
  const program = createProcess({ name: 'program', scheduler, random });
  const database = 'ledger';
  const postgres = createPostgres({ server, database, process: machine, network, scheduler, history });

  async function open(): Promise<Session> {
    const heard: string[] = [];
    const stream = () => new SimulatedSocket(program, network) as never;
    const client = new pg.Client({ host: 'postgres', port: 5432, user: 'ledger', database, stream });
    client.on('notification', ({ channel, payload }) => heard.push(`${channel} ${payload}`));
    await client.connect();
    return { client, heard };
  }

  let played: Promise<void> | undefined;
  program.enter(() => {
    played = play({ open, sleep: (ms) => program.runtime.sleep(ms), nowMs: scheduler.nowMs });
  });
  await scheduler.run();
  await played;
  await postgres.close();
}

test.serial(
  'an announcement reaches those who listened before it was committed, outside of their transactions',
  (t) =>
    playIn(t, async ({ open, sleep }) => {
      const sessions = [await open(), await open(), await open()] as const;
      const [first, second, third] = sessions.map(({ client }) => client) as [
        pg.Client,
        pg.Client,
        pg.Client,
      ];
      // In simulated time: whatever was announced has arrived by then.
      const heardNow = async () => {
        await sleep(1_000);
        return sessions.map(({ heard }) => heard.splice(0));
      };
      await first.query('listen "paid"');
      await second.query('listen "paid"');
      await second.query('listen "due"');
      await third.query('begin');
      await third.query(`select pg_notify('paid', '1')`);
      t.deepEqual(await heardNow(), [[], [], []], 'before the commit');
      await third.query('commit');
      t.deepEqual(await heardNow(), [['paid 1'], ['paid 1'], []]);

      await third.query('begin');
      await third.query(`select pg_notify('paid', '2')`);
      await third.query('rollback');
      t.deepEqual(await heardNow(), [[], [], []], 'after a rollback');

      await second.query('begin');
      await first.query(`select pg_notify('due', '3')`);
      await third.query('listen "due"');
      t.deepEqual(await heardNow(), [[], [], []], 'within a transaction, and to who listened too late');
      await second.query('commit');
      t.deepEqual(await heardNow(), [[], ['due 3'], []]);
      for (const client of [first, second, third]) await client.end();
    }),
);

test.serial('a session waits for a lock as long as its transaction says, in simulated time', (t) =>
  playIn(t, async ({ open, sleep, nowMs }) => {
    const [{ client: holder }, { client: waiter }] = [await open(), await open()];
    await holder.query('select pg_advisory_lock(1)');
    for (const setting of [
      `set local lock_timeout = '5s'`,
      `select set_config('lock_timeout', '5000ms', true)`,
    ]) {
      const beganMs = nowMs();
      await waiter.query('begin');
      await waiter.query({ name: setting, text: setting, values: [] });
      await t.throwsAsync(waiter.query('select pg_advisory_lock(1)'), { code: '55P03' });
      t.true(nowMs() - beganMs >= 5_000 && nowMs() - beganMs < 6_000);
      await waiter.query('rollback');
    }
    await waiter.query('begin');
    await waiter.query(`set local lock_timeout = '5s'`);
    const locked = waiter.query('select pg_advisory_xact_lock(1)');
    await sleep(4_000);
    await holder.query('select pg_advisory_unlock(1)');
    await locked;
    await sleep(10_000);
    await waiter.query('commit');
    for (const client of [holder, waiter]) await client.end();
  }),
);
