/** Folds payouts and remittances as they are recorded: each is in the books once, and balances. */
import {
  enterSettlement,
  type Settlement,
  settlementFold,
  settlementIdOf,
  settlementStream,
} from '../../../src/events/settlement.ts';
import type { History } from '../engine/history.ts';
import type { Report } from '../violations.ts';

type Named = { kind: 'payout' | 'remittance'; reference: string };

/** However it is spaced and cased. */
const nameOf = ({ kind, reference }: Named) => `${kind} ${reference.replace(/\s/g, '').toLowerCase()}`;

export function createSettlementCheck({ report, history }: { report: Report; history: History }) {
  const streams = new Map<string, Settlement>();
  const inEffect = () =>
    [...streams].flatMap(([stream, { recorded, reversed }]) =>
      recorded && !reversed ? [{ stream, recorded }] : [],
    );

  return {
    take(stream: string, stored: Parameters<typeof settlementFold.read>[0]): void {
      const event = settlementFold.read(stored);
      history.tell(`log: ${event.type} in ${stream}`);
      const before = streams.get(stream) ?? settlementFold.initial;
      if (event.type === 'SettlementRecorded') {
        const name = nameOf(event.data);
        if (inEffect().some(({ recorded }) => nameOf(recorded) === name))
          report('settled-twice', name, 'It is recorded while it is in the books already');
      }
      const postings = enterSettlement(before, event)?.postings ?? [];
      const balance = postings.reduce((sum, { debitSen, creditSen }) => sum + debitSen - creditSen, 0n);
      if (balance !== 0n) report('unbalanced', stream, `The debits exceed the credits by ${balance} sen`);
      streams.set(stream, settlementFold.evolve(before, event));
    },
    clear: () => streams.clear(),
    /** As the log has it. */
    find: ({ kind, reference }: Named): Settlement =>
      streams.get(settlementStream(settlementIdOf(kind, reference))) ?? settlementFold.initial,
    /** What all that is in effect has brought to the bank account. */
    bankSen: (): bigint =>
      inEffect().reduce(
        (sum, { recorded: { kind, totalSen } }) => sum + BigInt(kind === 'payout' ? totalSen : -totalSen),
        0n,
      ),
  };
}
