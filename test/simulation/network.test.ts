/** The simulated network and its processes keep the order of a connection, whatever happens on the way, or end it. */
import test from 'ava';
import { createHistory } from './engine/history.ts';
import { createNetwork } from './engine/network.ts';
import { createProcess, type SimulatedProcess } from './engine/process.ts';
import { createRandom } from './engine/random.ts';
import { createScheduler } from './engine/scheduler.ts';

const count = 2_000;

// One after another: a scheduler waits until nothing is left to run in its process.

test.serial('messages arrive in order over a way that is cut and to a process that pauses', async (t) => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const scheduler = createScheduler(0);
    const random = createRandom(`order ${seed}`);
    const history = createHistory(scheduler.nowMs, 0);
    const network = createNetwork({ scheduler, random, history });
    const sender = createProcess({ name: 'sender', scheduler, random });
    const receiver = createProcess({ name: 'receiver', scheduler, random });
    const arrived: unknown[] = [];
    let sent = 0;
    network.listen(receiver, 'receiver:1', () => ({
      message: (message) => void arrived.push(message),
      ended() {},
      broken: (code) => t.fail(code),
    }));
    const ignored = { message() {}, ended() {}, broken: (code: string) => t.fail(code) };
    network.connect(sender, 'receiver:1', ignored, (connection) => {
      for (let number = 0; number < count; number += 1)
        scheduler.after(random.integer(0, 5_000), () => {
          sent += 1;
          connection.send(sent);
        });
    });
    for (let fault = 0; fault < 4; fault += 1) {
      scheduler.after(random.integer(0, 5_000), () => {
        scheduler.after(random.integer(1, 2_000), network.cut('sender', 'receiver'));
        scheduler.after(random.integer(1, 2_000), network.slow('sender', random.integer(1, 100)));
      });
      scheduler.after(random.integer(0, 5_000), () => {
        receiver.pause();
        scheduler.after(random.integer(1, 2_000), receiver.resume);
      });
    }
    await scheduler.run();
    t.deepEqual(
      arrived,
      Array.from({ length: count }, (_, index) => index + 1),
    );
  }
});

test.serial('a server that stops listening refuses connections whose way was cut until then', async (t) => {
  const scheduler = createScheduler(0);
  const random = createRandom('refused');
  const network = createNetwork({ scheduler, random, history: createHistory(scheduler.nowMs, 0) });
  const client = createProcess({ name: 'client', scheduler, random });
  const server = createProcess({ name: 'server', scheduler, random });
  const stopListening = network.listen(server, 'server:1', () => {
    t.fail('it was accepted');
    return { message() {}, ended() {}, broken() {} };
  });
  scheduler.after(5_000, network.cut('client', 'server'));
  const broken: string[] = [];
  const end = { message() {}, ended() {}, broken: (code: string) => void broken.push(code) };
  network.connect(client, 'server:1', end, () => t.fail('it was opened'));
  scheduler.after(2_000, stopListening);
  await scheduler.run();
  t.deepEqual(broken, ['ECONNREFUSED']);
});

for (const [cutMs, codes] of [
  [25_000, []],
  [35_000, ['ETIMEDOUT', 'ETIMEDOUT']],
] as const)
  test.serial(
    `a connection whose way is cut for ${cutMs / 1_000} s is ${codes.length ? 'given up at both ends' : 'kept'}`,
    async (t) => {
      const scheduler = createScheduler(0);
      const random = createRandom('cut');
      const network = createNetwork({ scheduler, random, history: createHistory(scheduler.nowMs, 0) });
      const [sender, receiver] = ['sender', 'receiver'].map((name) =>
        createProcess({ name, scheduler, random }),
      ) as [SimulatedProcess, SimulatedProcess];
      const arrived: unknown[] = [];
      const broken: string[] = [];
      const end = {
        message: (message: unknown) => void arrived.push(message),
        ended() {},
        broken: (code: string) => void broken.push(code),
      };
      network.listen(receiver, 'receiver:1', () => end);
      network.connect(sender, 'receiver:1', end, (connection) => {
        scheduler.after(cutMs, network.cut('sender', 'receiver'));
        connection.send('while it is cut');
        scheduler.after(cutMs + 1_000, () => connection.send('afterwards'));
      });
      await scheduler.run();
      t.deepEqual(broken, codes);
      t.deepEqual(arrived, codes.length ? [] : ['while it is cut', 'afterwards']);
    },
  );

test.serial('a timer that is cancelled while it waits for a pause to end never fires', async (t) => {
  const scheduler = createScheduler(0);
  const process = createProcess({ name: 'process', scheduler, random: createRandom('timer') });
  const fired: string[] = [];
  const cancel = process.after(20, () => fired.push('cancelled'));
  process.after(30, () => fired.push('kept'));
  scheduler.after(10, () => {
    process.pause();
    process.enter(cancel);
  });
  scheduler.after(40, process.resume);
  await scheduler.run();
  t.deepEqual(fired, ['kept']);
});
