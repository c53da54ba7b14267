/**
 * One transaction for batches that several projections write at the same moment: it begins, commits and reaches the disk
 * once for all. Each has its own checkpoint in it. If one fails, each is written again in a transaction of its own.
 */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Knex } from 'knex';

export type Transact = <Result>(work: (trx: Knex.Transaction) => Promise<Result>) => Promise<Result>;

type Work = {
  /** The function returned reports that it is committed. */
  within(trx: Knex.Transaction): Promise<() => void>;
  alone(): void;
};

/** Works that are given in the same turn of the event loop share a transaction. If one fails, each runs again, alone. */
export function createSharedTransaction(db: Knex, runtime: Pick<Runtime, 'yieldToIo'>): Transact {
  let gathered: Work[] = [];

  async function write(works: readonly Work[]): Promise<void> {
    try {
      const committed = await db.transaction(async (trx) => {
        const done: (() => void)[] = [];
        for (const work of works) {
          // The work before this one has set the path to its own tables.
          if (done.length > 0) await trx.raw('set local search_path to default');
          done.push(await work.within(trx));
        }
        return done;
      });
      for (const report of committed) report();
    } catch {
      for (const work of works) work.alone();
    }
  }

  async function writeGathered(): Promise<void> {
    await runtime.yieldToIo();
    const works = gathered;
    gathered = [];
    if (works.length > 1) await write(works);
    else works[0]?.alone();
  }

  return (work) =>
    new Promise((resolve, reject) => {
      gathered.push({
        within: (trx) => work(trx).then((result) => () => resolve(result)),
        alone: () => void db.transaction(work).then(resolve, reject),
      });
      if (gathered.length === 1) void writeGathered();
    });
}
