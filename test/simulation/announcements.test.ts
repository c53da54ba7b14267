/** Sessions of the simulated PostgreSQL hear what is announced when PostgreSQL would tell them. */
import test from 'ava';
import pg from 'pg';
import { createHistory } from './engine/history.ts';
import { createNetwork } from './engine/network.ts';
import { createProcess } from './engine/process.ts';
import { createRandom } from './engine/random.ts';
import { createScheduler } from './engine/scheduler.ts';
import { SimulatedSocket } from './engine/socket.ts';
import { createPostgres } from './stores/postgres.ts';
import { startPostgresServer } from './stores/postgres-server.ts';

test('an announcement reaches those who listened before it was committed, outside of their transactions', async (t) => {
  const server = await startPostgresServer();
  t.teardown(server.stop);
  const scheduler = createScheduler(0);
  const random = createRandom('announcements');
  const history = createHistory(scheduler.nowMs, 0);
  const network = createNetwork({ scheduler, random, history });
  const machine = createProcess({ name: 'postgres', scheduler, random });
  const program = createProcess({ name: 'program', scheduler, random });
  const database = 'ledger';
  const postgres = createPostgres({ server, database, process: machine, network, scheduler, history });
  const heard: string[] = [];

  async function open(name: string): Promise<pg.Client> {
    const stream = () => new SimulatedSocket(program, network) as never;
    const client = new pg.Client({ host: 'postgres', port: 5432, user: 'ledger', database, stream });
    client.on('notification', ({ channel, payload }) => heard.push(`${name} ${channel} ${payload}`));
    await client.connect();
    return client;
  }
  // In simulated time: whatever was announced has arrived by then.
  const heardNow = async () => {
    await program.runtime.sleep(1_000);
    return heard.splice(0);
  };

  async function play(): Promise<void> {
    const [first, second, third] = [await open('first'), await open('second'), await open('third')];
    await first.query('listen "paid"');
    await second.query('listen "paid"');
    await second.query('listen "due"');
    await third.query('begin');
    await third.query(`select pg_notify('paid', '1')`);
    t.deepEqual(await heardNow(), [], 'before the commit');
    await third.query('commit');
    t.deepEqual((await heardNow()).toSorted(), ['first paid 1', 'second paid 1']);

    await third.query('begin');
    await third.query(`select pg_notify('paid', '2')`);
    await third.query('rollback');
    t.deepEqual(await heardNow(), [], 'after a rollback');

    await second.query('begin');
    await first.query(`select pg_notify('due', '3')`);
    await third.query('listen "due"');
    t.deepEqual(await heardNow(), [], 'within a transaction, and to who listened too late');
    await second.query('commit');
    t.deepEqual(await heardNow(), ['second due 3']);
    for (const client of [first, second, third]) await client.end();
  }

  let played: Promise<void> | undefined;
  program.enter(() => {
    played = play();
  });
  await scheduler.run();
  await played;
  await postgres.close();
});
