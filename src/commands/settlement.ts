/** Decisions about payouts and remittances. The events are in src/events/settlement.ts. */
import { readSettlementEvent } from '../events/codec.ts';
import {
  evolveSettlement,
  isNextPart,
  netSenOf,
  noSettlement,
  type PayoutLine,
  type Settlement,
  type SettlementEvent,
  type SettlementRecorded,
} from '../events/settlement.ts';
import { dayOf } from '../kernel/malaysian-time.ts';
import { displaySen, signedSen } from '../kernel/money.ts';
import { type Decider, Refused } from './decider.ts';

/** One that was reversed is recorded again only if staff confirm it, so that a repeated import does not undo it. */
type Confirmed = { isConfirmed: boolean };

type ListPayoutLines = Confirmed & {
  type: 'ListPayoutLines';
  at: string;
  sha256: string;
  from: number;
  lines: PayoutLine[];
};
export type RecordSettlement = Confirmed & {
  type: 'RecordSettlement';
  settlement: Omit<SettlementRecorded, 'postingRule'>;
};
type ReverseSettlement = { type: 'ReverseSettlement'; at: string; note: string };

type SettlementCommand = ListPayoutLines | RecordSettlement | ReverseSettlement;
type Decision = readonly SettlementEvent[] | Refused;

export const maxParts = 1_000;

export const settlementDecider: Decider<Settlement, SettlementCommand, SettlementEvent> = {
  initial: noSettlement,
  read: readSettlementEvent,
  evolve: evolveSettlement,
  decide(command, state) {
    switch (command.type) {
      case 'ListPayoutLines':
        return list(command, state);
      case 'RecordSettlement':
        return record(command, state);
      case 'ReverseSettlement':
        return reverse(command, state);
    }
  },
};

function list({ isConfirmed, type: _, ...data }: ListPayoutLines, state: Settlement): Decision {
  const { recorded } = state;
  const isKnown = recorded?.file?.sha256 === data.sha256 && !state.reversed;
  if (isKnown || hasLines(state, data.sha256, data.from + data.lines.length)) return [];
  const refusal = refusalToRecord(state, isConfirmed) ?? (isNextPart(state, data) ? null : otherFile());
  return refusal ?? [{ type: 'PayoutLinesListed', data }];
}

function record({ isConfirmed, settlement }: RecordSettlement, state: Settlement): Decision {
  const fault = faultOf(settlement);
  if (fault) return new Refused('invalid_settlement', fault);
  const { recorded, reversed } = state;
  if (recorded && !reversed && isSame(recorded, settlement)) return [];
  const refusal = refusalToRecord(state, isConfirmed);
  if (refusal) return refusal;
  const { file, kind } = settlement;
  if (kind === 'payout' && file && !hasLines(state, file.sha256, file.lines)) return otherFile();
  return [{ type: 'SettlementRecorded', data: { ...settlement, postingRule: 1 } }];
}

function reverse({ at, note }: ReverseSettlement, { recorded, reversed }: Settlement): Decision {
  if (!recorded) return new Refused('unknown_settlement', 'There is no such payout or remittance');
  if (reversed?.note === note) return [];
  if (reversed) return new Refused('settlement_recorded', 'It is already reversed');
  return [{ type: 'SettlementReversed', data: { at, note, postingRule: 1 } }];
}

function hasLines({ listed }: Settlement, sha256: string, lines: number): boolean {
  return listed?.sha256 === sha256 && listed.lines >= lines;
}

const otherFile = () =>
  new Refused('settlement_recorded', 'Another file with this reference is being imported');

function refusalToRecord({ recorded, reversed }: Settlement, isConfirmed: boolean): Refused | null {
  if (!recorded || (reversed && isConfirmed)) return null;
  return new Refused(
    'settlement_recorded',
    reversed
      ? `${recorded.reference} was reversed: confirm that it is to be recorded again`
      : `${recorded.reference} is already recorded, with other figures or from another file: reverse it first`,
  );
}

/** The file decides; without one, the figures. */
function isSame(one: SettlementRecorded, other: RecordSettlement['settlement']): boolean {
  if (one.file || other.file) return one.file?.sha256 === other.file?.sha256;
  const figures = ({ parts, settledOn, totalSen }: Omit<SettlementRecorded, 'postingRule'>) =>
    JSON.stringify([
      settledOn,
      totalSen,
      parts.map(({ account, amountSen }) => `${account} ${amountSen}`).sort(),
    ]);
  return figures(one) === figures(other);
}

/** What is wrong with the figures; null if they add up. */
export function faultOf({
  at,
  kind,
  parts,
  settledOn,
  totalSen,
}: RecordSettlement['settlement']): string | null {
  const allowed = kind === 'payout' ? /^(gateway|fees):/ : /^merchant:/;
  if (settledOn > dayOf(at)) return 'The day is in the future';
  if (parts.length === 0) return 'No amount is given';
  if (parts.length > maxParts) return `A settlement has at most ${maxParts} amounts`;
  const wrong = parts.find(({ account }) => !allowed.test(account));
  if (wrong) return `A ${kind} does not settle ${wrong.account}`;
  const netSen = netSenOf(parts);
  if (netSen === BigInt(totalSen)) return null;
  return `The amounts less the fees are RM ${signedSen(netSen)}, and the total is ${displaySen(totalSen)}`;
}
