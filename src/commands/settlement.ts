/** Decisions about payouts and remittances. The events are in src/events/settlement.ts. */
import { dayOf } from '../common/malaysian-time.ts';
import { displaySen, signedSen } from '../common/money.ts';
import {
  type Settlement,
  type SettlementEvent,
  type SettlementRecorded,
  settlementFold,
} from '../events/settlement.ts';
import { type Decider, type Decision, Refused } from './decider.ts';

export type NewSettlement = Omit<SettlementRecorded, 'postingRule'>;
/** `doubts` say why staff must confirm it. */
type RecordSettlement = {
  type: 'RecordSettlement';
  settlement: NewSettlement;
  doubts: readonly string[];
  isConfirmed: boolean;
};
/** `recordedAt` is the `at` of what is to be reversed: it may have been reversed, and recorded again, since it was seen. */
type ReverseSettlement = { type: 'ReverseSettlement'; at: string; note: string; recordedAt: string };

const maxParts = 1_000;

export const settlementDecider: Decider<Settlement, RecordSettlement | ReverseSettlement, SettlementEvent> = {
  ...settlementFold,
  decide: (command, state) =>
    command.type === 'RecordSettlement' ? record(command, state) : reverse(command, state),
};

function record(
  { doubts, isConfirmed, settlement }: RecordSettlement,
  { recorded, reversed }: Settlement,
): Decision<SettlementEvent> {
  if (recorded && !reversed) {
    if (recorded.file.sha256 === settlement.file.sha256) return [];
    return new Refused(
      'settlement_recorded',
      `${recorded.reference} is already recorded, from another file or with other figures: reverse it first`,
    );
  }
  const fault = faultOf(settlement);
  if (fault) return new Refused('invalid_settlement', fault);
  const reasons = reversed
    ? [`${settlement.reference} was recorded before, and reversed`, ...doubts]
    : doubts;
  if (reasons.length > 0 && !isConfirmed)
    return new Refused('settlement_in_doubt', `${reasons.join('; ')}: confirm that it is to be recorded`);
  return [{ type: 'SettlementRecorded', data: { ...settlement, postingRule: 1 } }];
}

function reverse(
  { at, note, recordedAt }: ReverseSettlement,
  { recorded, reversed }: Settlement,
): Decision<SettlementEvent> {
  if (!recorded) return new Refused('unknown_settlement', 'There is no such payout or remittance');
  if (recorded.at !== recordedAt)
    return new Refused('settlement_recorded', 'It has been recorded again since: open its page once more');
  if (reversed?.note === note) return [];
  if (reversed) return new Refused('settlement_recorded', 'It is already reversed');
  return [{ type: 'SettlementReversed', data: { at, note, postingRule: 1 } }];
}

/** What is wrong with the figures; null if they add up. */
function faultOf({ at, kind, parts, settledOn, totalSen }: NewSettlement): string | null {
  if (settledOn > dayOf(at)) return 'The day is in the future';
  if (parts.length === 0) return 'No amount is given';
  if (parts.length > maxParts) return `A settlement has at most ${maxParts} amounts`;
  const allowed = kind === 'payout' ? /^(gateway|fees):/ : /^merchant:/;
  const wrong = parts.find(({ account }) => !allowed.test(account));
  if (wrong) return `A ${kind} does not settle ${wrong.account}`;
  const netSen = parts.reduce(
    (sum, { account, amountSen }) => sum + BigInt(account.startsWith('fees:') ? -amountSen : amountSen),
    0n,
  );
  if (netSen === BigInt(totalSen)) return null;
  return `The amounts less the fees are RM ${signedSen(netSen)}, and the total is ${displaySen(totalSen)}`;
}
