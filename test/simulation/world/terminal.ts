/** Commands that people enter at a terminal: each in a process of its own, which may be killed in the middle. */
import { createLog } from '@ledger/kernel/log.ts';
import type { Config } from '../../../src/config/config.ts';
import { type OpenStores, openStores } from '../../../src/roles/stores.ts';
import type { History } from '../engine/history.ts';
import { createProcess, within } from '../engine/process.ts';
import type { Random } from '../engine/random.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import { firstKeys, type Keys } from '../program/keys.ts';

export type Terminal = ReturnType<typeof createTerminal>;

/** Whoever has seen nothing for so long ends a command. */
export const patienceMs = 120_000;

/** A command was killed: nobody knows how far it has come. */
export class Killed extends Error {
  override name = 'Killed';
}

/** `name` is that of the machine. */
export function createTerminal({
  name,
  scheduler,
  random,
  history,
  configOf,
}: {
  name: string;
  scheduler: Scheduler;
  random: Random;
  history: History;
  configOf: (keys: Keys) => Config;
}) {
  let runs = 0;
  return {
    /** Throws Killed if it takes longer than `forMs`, and what the command throws. */
    async run<Result>(
      what: string,
      { keys = firstKeys, forMs = patienceMs }: { keys?: Keys; forMs?: number },
      work: (stores: OpenStores<Config>) => Promise<Result>,
    ): Promise<Result> {
      runs += 1;
      const process = createProcess({ name, scheduler, random: random.fork(`${runs}`) });
      const { promise: killed, reject } = Promise.withResolvers<never>();
      const cancel = scheduler.after(forMs, () => {
        history.tell(`${name}: ${what} is killed`);
        reject(new Killed(what));
      });
      const config = configOf(keys);
      try {
        const done = within(process, () =>
          work(openStores(config, createLog('silent', name), process.runtime)),
        );
        return await Promise.race([done, killed]);
      } finally {
        cancel();
        process.kill();
      }
    },
  };
}
