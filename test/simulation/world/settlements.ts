/** Staff who record what was settled: in any order, twice, corrected, and at times two of them at once. */
import type { Knex } from 'knex';
import { Refused } from '../../../src/commands/decider.ts';
import { createExecute, loadHead } from '../../../src/commands/execute.ts';
import { settlementDecider } from '../../../src/commands/settlement.ts';
import type { Cause } from '../../../src/events/envelope.ts';
import { settlementIdOf, settlementStream } from '../../../src/events/settlement.ts';
import { accountSums } from '../../../src/projections/journal/queries.ts';
import { UnreadableExport } from '../../../src/reconciliation/export-format.ts';
import { ImportImpossible } from '../../../src/reconciliation/reconcile.ts';
import { importSettlement } from '../../../src/reconciliation/settle.ts';
import type { RoleDependencies } from '../../../src/roles/stores.ts';
import type { LogCheck } from '../checks/log.ts';
import type { History } from '../engine/history.ts';
import type { Random } from '../engine/random.ts';
import type { Report } from '../violations.ts';
import type { Bank } from './bank.ts';
import { createPayouts, type Settlement, type SettlementFile } from './payouts.ts';
import { createSettlementJudge, hashOf, respelled } from './settlement-judge.ts';
import type { Terminal } from './terminal.ts';

/** What staff were told of a settlement last: which file is recorded; null for one that is reversed. */
type ToldSettlement = { settlement: Settlement; sha256: string | null };

type Told = 'recorded' | 'refused' | 'doubted' | 'later' | 'unsure';

/** Who is told that it failed does the same again, so many times. */
const tries = 6;

export function createSettlements({
  bank,
  logCheck,
  history,
  report,
  causeOf,
  db,
  servesOldState,
  terminal,
  killsImports,
  stores: { eventStore, runtime },
}: {
  bank: Bank;
  logCheck: LogCheck;
  history: History;
  report: Report;
  causeOf: (actor: string) => Cause;
  db: Knex;
  /** Whether a node of the event store may answer with an old state. */
  servesOldState: () => boolean;
  terminal: Terminal;
  /** Whether every fourth import is a command that is killed. */
  killsImports: boolean;
  stores: Pick<RoleDependencies, 'eventStore' | 'runtime'>;
}) {
  const execute = createExecute({ eventStore, decider: settlementDecider });
  const payouts = createPayouts({ bank, nowMs: () => runtime.now().getTime() });
  const { judgeOf, checkParts } = createSettlementJudge({ bank, logCheck, report, servesOldState, payouts });
  const told = new Map<string, ToldSettlement>();
  /** Of those, nobody can say what is true: an answer is missing. */
  const unsure = new Set<string>();
  const inHand = new Set<string>();
  let imports = 0;

  /** Does it until there is an answer. */
  async function untilTold(what: string, run: () => Promise<Told>): Promise<Told> {
    let last: Told = 'later';
    for (let number = 0; number < tries; number += 1) {
      try {
        const outcome = await run();
        history.tell(`${what}: ${outcome}`);
        return outcome;
      } catch (error) {
        const { name } = error as Error;
        history.tell(`${what} fails: ${error instanceof Refused ? error.code : name}`);
        if (error instanceof Refused) return /confirm that/.test(error.message) ? 'doubted' : 'refused';
        if (error instanceof UnreadableExport) return 'refused';
        if (!(error instanceof ImportImpossible)) last = 'unsure';
        await runtime.sleep(20_000 * 2 ** number);
      }
    }
    return last;
  }

  async function importFile(
    settlement: Settlement,
    file: SettlementFile,
    { by, isConfirmed }: { by: string; isConfirmed: boolean },
  ): Promise<Told> {
    const { reference } = settlement;
    const what = `${by}: ${isConfirmed ? 'confirmed ' : ''}import of ${reference} with ${file.rows.length} rows`;
    return await untilTold(what, async () => {
      const judge = judgeOf(settlement, file);
      const named: number[] = [];
      const repeated: number[] = [];
      const stream = textOf(file.text);
      const onBadRow = ({ fault, line }: { fault: string; line: number }) =>
        void (/is already in/.test(fault) ? repeated : named).push(line);
      let isNew: boolean;
      try {
        const given = { file: stream, isConfirmed, cause: causeOf(by), onBadRow };
        imports += 1;
        ({ isNew } = await (killsImports && imports % 4 === 0
          ? terminal.run(what, { forMs: imports * 10 }, (own) => importSettlement(own, given))
          : importSettlement({ eventStore, db, runtime }, given)));
      } catch (error) {
        if (error instanceof Refused && ['settlement_recorded', 'settlement_in_doubt'].includes(error.code))
          judge({ named, repeated });
        throw error;
      }
      judge({ named, repeated });
      if (isNew) checkParts(settlement, file, named);
      return 'recorded';
    });
  }

  async function reverse(settlement: Settlement): Promise<Told> {
    const { kind, reference } = settlement;
    const stream = settlementStream(settlementIdOf(kind, reference));
    return await untilTold(`staff:one: reversal of ${reference}`, async () => {
      const { recorded } = (await loadHead(eventStore, stream, settlementDecider)).state;
      const recordedAt = recorded?.at ?? '';
      const at = runtime.now().toISOString();
      const command = { type: 'ReverseSettlement', at, note: 'Wrong', recordedAt } as const;
      await execute(stream, command, causeOf('staff:one'));
      return 'recorded';
    });
  }

  /** Imports a file, at times two members of staff at once, one of whom may have another one. Some spell its reference otherwise. */
  async function record(settlement: Settlement, isConfirmed: boolean, random: Random): Promise<void> {
    const { files, reference } = settlement;
    const pick = (): SettlementFile => {
      const file = random.pick(files);
      return random.chance(0.25) ? respelled(file, reference) : file;
    };
    const file = pick();
    const both = random.chance(0.3) ? [file, random.chance(0.5) ? file : pick()] : [file];
    const take = async (each: SettlementFile, index: number) => {
      const by = index === 0 ? 'staff:one' : 'staff:another';
      let outcome = await importFile(settlement, each, { by, isConfirmed });
      if (outcome === 'doubted' && random.chance(0.6))
        outcome = await importFile(settlement, each, { by, isConfirmed: true });
      if (outcome === 'unsure') unsure.add(reference);
      if (outcome === 'recorded') told.set(reference, { settlement, sha256: hashOf(each) });
    };
    await Promise.all(both.map(take));
  }

  async function handle(settlement: Settlement, random: Random): Promise<void> {
    const { files, reference } = settlement;
    const { sha256 } = told.get(reference) ?? {};
    if (!sha256) return await record(settlement, sha256 === null, random);
    const right = files.at(-1);
    if (right && sha256 === hashOf(right) && random.chance(0.7)) {
      // Again, by mistake.
      await importFile(settlement, right, { by: 'staff:one', isConfirmed: random.chance(0.5) });
      return;
    }
    const outcome = await reverse(settlement);
    if (outcome === 'unsure') unsure.add(reference);
    if (outcome !== 'recorded') return;
    told.set(reference, { settlement, sha256: null });
    if (random.chance(0.8)) await record(settlement, true, random);
  }

  return {
    /** The gateway pays out, and staff record most of what they have files of, in any order. */
    async settle(random: Random): Promise<void> {
      payouts.payOut(random);
      if (random.chance(0.4)) payouts.handOn(random);
      const chosen = payouts
        .all()
        .filter(({ reference }) => !unsure.has(reference) && random.chance(0.7))
        .map((settlement) => ({ settlement, place: random.next() }))
        .toSorted((a, b) => a.place - b.place);
      for (const { settlement } of chosen) {
        const { reference } = settlement;
        if (inHand.has(reference)) continue;
        inHand.add(reference);
        await handle(settlement, random);
        inHand.delete(reference);
      }
    },

    /** What staff were told of each, if every answer arrived. */
    told: (): readonly ToldSettlement[] =>
      [...told.values()].filter(({ settlement: { reference } }) => !unsure.has(reference)),

    /** Whether the journal's rows have in the bank account what the log has. */
    async isBankRight(): Promise<boolean> {
      const { debitSen, creditSen } = await accountSums(db, 'bank', runtime.now());
      return debitSen - creditSen === logCheck.settlements.bankSen();
    },
  };
}

async function* textOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
