/** The simulated network and its processes keep the order of a connection, whatever happens on the way. */
import test from 'ava';
import { createHistory } from './engine/history.ts';
import { createNetwork } from './engine/network.ts';
import { createProcess } from './engine/process.ts';
import { createRandom } from './engine/random.ts';
import { createScheduler } from './engine/scheduler.ts';

const count = 2_000;

test('messages arrive in order over a way that is cut and to a process that pauses', async (t) => {
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
    while (await scheduler.step());
    t.deepEqual(
      arrived,
      Array.from({ length: count }, (_, index) => index + 1),
    );
  }
});
