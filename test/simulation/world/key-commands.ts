/** What operators do at a terminal while keys are replaced: `ledger keys`, each time in a process that may be killed. */
import { join } from 'node:path';
import { forAll, type KeyTerm, sealKeyOf } from '@ledger/transparency-log/key.ts';
import { loadLastSeal } from '../../../src/audit/seals/find-seals.ts';
import { keptCheckpoints, lastCheckpointFile } from '../../../src/audit/seals/kept-checkpoints.ts';
import { acceptOlderLog } from '../../../src/audit/verify/acknowledge.ts';
import { destroyErased } from '../../../src/cli/keys.ts';
import { assertKey } from '../../../src/commands/key-fingerprint.ts';
import type { Config } from '../../../src/config/config.ts';
import type { OpenStores } from '../../../src/roles/stores.ts';
import type { History } from '../engine/history.ts';
import type { Random } from '../engine/random.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import type { Keys } from '../program/keys.ts';
import { patienceMs, type Terminal } from './terminal.ts';

export type KeyCommands = ReturnType<typeof createKeyCommands>;

/** A command that fails or is killed is entered again, so many times. */
const tries = 12;

export function createKeyCommands({
  terminal,
  scheduler,
  history,
}: {
  terminal: Terminal;
  scheduler: Scheduler;
  history: History;
}) {
  /** What auditors have in their file, once something else than a hand-over tells them of a key. */
  let trusted: readonly KeyTerm[] | null = null;
  const publicKeyOf = (seed: string) => sealKeyOf(seed).publicKey;

  /** Null if it failed or was killed. */
  async function run<Result>(
    what: string,
    options: { keys?: Keys; forMs?: number },
    work: (stores: OpenStores<Config>) => Promise<Result>,
  ): Promise<Result | null> {
    try {
      return await terminal.run(what, options, work);
    } catch (error) {
      history.tell(`operators: ${what} fails: ${String(error).slice(0, 200)}`);
      return null;
    }
  }

  async function untilDone<Result>(
    what: string,
    attempt: (number: number) => Promise<Result | null>,
  ): Promise<Result | null> {
    for (let number = 0; number < tries; number += 1) {
      const done = await attempt(number);
      if (done !== null) return done;
      await scheduler.sleep(10_000 * (number + 1));
    }
    history.tell(`operators: ${what} is given up`);
    return null;
  }

  /** The log names it, whatever it named before. */
  async function name(variable: string, key: string): Promise<void> {
    const what = `the log is to name another ${variable}`;
    await untilDone(what, () =>
      run(what, {}, async ({ eventStore, runtime }) => {
        const { signal } = new AbortController();
        await assertKey({ name: variable, key, others: null }, { eventStore, runtime, signal });
        history.tell(`operators: the log names another ${variable}`);
        return true;
      }),
    );
  }

  return {
    replaceLinkKey: (key: string) => name('LINK_KEY', key),

    /** The key before is lost, and cannot hand over: auditors are given both. */
    async replaceSealKey(before: string, key: string): Promise<void> {
      trusted = [...(trusted ?? [forAll(publicKeyOf(before))]), forAll(publicKeyOf(key))];
      await name('SEAL_KEY', publicKeyOf(key));
    },

    /** A key to which the one before hands over. */
    trusted: (): readonly KeyTerm[] | null => trusted,

    /** Whether the last seal is under this key; null if nobody can say. */
    hasSealed: (seed: string): Promise<boolean | null> =>
      run('the last seal is read', {}, async ({ eventStore }) => {
        const { seal } = await loadLastSeal(eventStore);
        return seal?.publicKey === publicKeyOf(seed);
      }),

    /** After a restore: `ledger keys destroy-erased`. */
    destroyErased: () =>
      untilDone('destroy-erased', () =>
        run('destroy-erased', {}, ({ eventStore, personalData }) =>
          destroyErased(personalData.store, eventStore),
        ),
      ),

    /** After a restore: `ledger verify --accept-older-log`. Nothing is done if the log has all that is kept. */
    acceptOlderLog: () =>
      untilDone('accept-older-log', () =>
        run('accept-older-log', {}, ({ config, db, eventStore, runtime }) => {
          const kept = keptCheckpoints(db, join(config.dataDir, lastCheckpointFile));
          const key = sealKeyOf(config.sealKeys.current);
          const given = { at: runtime.now(), reason: 'A backup was restored' };
          const commandId = runtime.uuid();
          const cause = { commandId, correlationId: commandId, causationId: commandId, actor: 'staff:one' };
          return acceptOlderLog({ eventStore, kept, key }, given, cause);
        }),
      ),

    /** Moves all keys of personal data under the present data key. Resolves to whether none is left under another. */
    async rewrap(keys: Keys, random: Random): Promise<boolean> {
      const kills = random.integer(0, 2);
      const done = await untilDone('rewrap', (number) => {
        const forMs = number < kills ? random.integer(20, 3_000) : patienceMs;
        return run('rewrap', { keys, forMs }, ({ personalData }) => personalData.store.rewrap());
      });
      history.tell(`operators: rewrap: ${done ? `${done.moved} moved, ${done.left} left` : 'not done'}`);
      return done?.left === 0;
    },
  };
}
