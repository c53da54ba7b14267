/**
 * Staff who import the exports of the gateway and of the registry, older and newer ones, at times two of them at once, in
 * commands that may be killed; and at the end, whether what is open explains every difference.
 */
import type { Knex } from 'knex';
import type { Config } from '../../../src/config/config.ts';
import type { Cause } from '../../../src/events/envelope.ts';
import type { ExportSource } from '../../../src/events/reconciliation.ts';
import { reconcile } from '../../../src/reconciliation/reconcile.ts';
import type { AskedPeriod } from '../../../src/reconciliation/scope.ts';
import type { OpenStores } from '../../../src/roles/stores.ts';
import type { LogCheck } from '../checks/log.ts';
import type { History } from '../engine/history.ts';
import type { Random } from '../engine/random.ts';
import { day } from '../fault-kinds.ts';
import type { Report } from '../violations.ts';
import type { Bank } from './bank.ts';
import { exportAt, fileOf, registryExport } from './exports.ts';
import { malaysianTime } from './gateway.ts';
import { patienceMs, type Terminal } from './terminal.ts';

/** A command that fails or is killed is entered again, so many times. */
const tries = 6;

type Stores = Pick<OpenStores<Config>, 'eventStore' | 'runtime'> & { db: Knex; config: Config };

type Export = {
  source: ExportSource;
  text: string;
  atMs: number;
  by: string;
  dryRun?: boolean;
  period?: AskedPeriod;
};

/** All that was ever paid. */
const allUpTo = (atMs: number): AskedPeriod => ({
  from: new Date(atMs - 30 * day).toISOString(),
  to: new Date(atMs).toISOString(),
});

export function createImports({
  terminal,
  stores,
  bank,
  logCheck,
  history,
  report,
  causeOf,
}: {
  terminal: Terminal;
  stores: Stores;
  bank: Bank;
  logCheck: LogCheck;
  history: History;
  report: Report;
  causeOf: (actor: string) => Cause;
}) {
  const { runtime } = stores;
  const nowMs = () => runtime.now().getTime();

  /** Of the registry, only what it shows now. Resolves to its summary, and the ids of what the file shows. */
  async function importOne(
    { config, db, eventStore, runtime: clock }: Stores,
    { source, text, atMs, by, dryRun = false, period = allUpTo(atMs) }: Export,
  ) {
    const shown: string[] = [];
    const { transactionIdKey } = config;
    const summary = await reconcile(
      { eventStore, db, transactionIdKey, runtime: clock, merchantCodeOf: (named) => named },
      {
        file: fileOf(text),
        period,
        madeAt: new Date(atMs).toISOString(),
        dryRun,
        waitMs: 60_000,
        newCause: () => causeOf(by),
        onBadRow({ line, fault }) {
          const hasUnreadable = [...logCheck.payments.values()].some(({ isUnreadable }) => isUnreadable);
          if (fault.includes('events cannot be read') && hasUnreadable) return;
          report('import-misjudged', source, `Line ${line} ${fault}`);
        },
        onDiscrepancy: (id) => void shown.push(id),
      },
    );
    return { summary, shown };
  }

  /** Until it is done; one that is to be killed is killed once or twice first. */
  async function enter(given: Export, random: Random): Promise<void> {
    const what = `the ${given.source}'s export of ${malaysianTime(given.atMs)}`;
    const kills = random.pick([0, 0, 1, 2]);
    for (let number = 0; number < tries; number += 1) {
      const forMs = number < kills ? random.integer(5, 2_000) : patienceMs;
      try {
        const { summary } = await terminal.run(what, { forMs }, (own) => importOne(own, given));
        const { opened, cleared } = summary;
        return history.tell(`${given.by}: ${what} opened ${opened} discrepancies and cleared ${cleared}`);
      } catch (error) {
        history.tell(`${given.by}: ${what} is not imported: ${(error as Error).name}`);
        await runtime.sleep(random.integer(1, 20) * 1_000);
      }
    }
  }

  const exportOf = (source: ExportSource, atMs: number, by: string): Export => ({
    source,
    atMs,
    by,
    text: source === 'gateway' ? exportAt(bank, atMs) : registryExport(bank),
  });

  /** Imports the newest export, and then compares once more: what is open has to be what that shows, to the sen. */
  async function checkSource(source: ExportSource): Promise<void> {
    const newest = exportOf(source, nowMs(), 'staff:one');
    await importOne(stores, newest);
    const { summary, shown } = await importOne(stores, { ...newest, dryRun: true });
    logCheck.look();
    const open = [...logCheck.discrepancies].filter(([, each]) => each.source === source);
    const ids = new Set(open.map(([stream]) => stream.replace('reconciliation-', '')));
    for (const id of shown) if (!ids.has(id)) report('import-misjudged', id, 'It is shown, and is not open');
    for (const [stream, { theirs, transactionId }] of open) {
      const isShown = shown.includes(stream.replace('reconciliation-', ''));
      // Money that they no longer show: staff have to ask them.
      const isTakenBack = theirs?.status === 'succeeded' && bank.misreported.has(transactionId);
      if (!isShown && !isTakenBack) report('import-misjudged', stream, 'It is open, and nothing shows it');
    }
    const { repeated: _, ...classes } = summary.classes;
    const theirsSen = Object.values(classes).reduce((sum, each) => sum + each.theirsSen, 0);
    const { matched } = classes;
    if (matched.oursSen !== matched.theirsSen)
      report('import-misjudged', source, `${matched.oursSen} sen match ${matched.theirsSen} sen`);
    const chargedSen = chargedIn(newest);
    if (theirsSen !== chargedSen)
      report('import-misjudged', source, `${theirsSen} sen were compared, and ${chargedSen} sen charged`);
  }

  /** By the file. */
  const chargedIn = ({ source, text }: Export): number =>
    text
      .split('\n')
      .slice(1)
      .map((line) => line.split(','))
      .filter((cells) => cells[source === 'gateway' ? 3 : 2] === '1')
      .reduce((sum, cells) => sum + Math.round(Number(cells[4]) * 100), 0);

  return {
    /** Imports the gateway's export as it was at a time, in the console, and not again if that fails. */
    async importExport(atMs: number): Promise<void> {
      history.tell(`staff: import the gateway's export of ${malaysianTime(atMs)}`);
      const given = { ...exportOf('gateway', atMs, 'staff:one'), period: { from: null, to: null } };
      try {
        const { summary } = await importOne(stores, given);
        history.tell(
          `staff: the import opened ${summary.opened} discrepancies and cleared ${summary.cleared}`,
        );
      } catch (error) {
        history.tell(`staff: the import failed: ${error instanceof Error ? error.name : 'unknown'}`);
      }
    },

    /** Two files at most at once, and then an older one again. */
    async importSome(random: Random): Promise<void> {
      const endMs = nowMs();
      const older = () => endMs - random.integer(10, 120) * 1_000;
      const take = (by: string) =>
        enter(
          random.chance(0.3)
            ? exportOf('registry', endMs, by)
            : exportOf('gateway', random.pick([endMs, older()]), by),
          random,
        );
      await Promise.all((random.chance(0.6) ? ['staff:one', 'staff:another'] : ['staff:one']).map(take));
      if (random.chance(0.4)) await enter(exportOf('gateway', older(), 'staff:one'), random);
    },

    async check(): Promise<void> {
      for (const source of ['gateway', 'registry'] as const) await checkSource(source);
    },
  };
}
