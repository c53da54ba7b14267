// Decisions about payouts and remittances: given, when, then.
import test from 'ava';
import { Refused } from '../../src/commands/decider.ts';
import { type NewSettlement, settlementDecider } from '../../src/commands/settlement.ts';
import {
  type SettlementEvent,
  type SettlementPart,
  settlementFold,
  settlementIdOf,
} from '../../src/events/settlement.ts';
import { sen } from '../support/payments.ts';

const at = '2026-11-21T02:00:00.000Z';
const part = (account: string, amountSen: number): SettlementPart => ({
  account,
  openedOn: null,
  amountSen: sen(amountSen),
});
const payout: NewSettlement = {
  at,
  kind: 'payout',
  reference: 'PO-1',
  settledOn: '2026-11-21',
  totalSen: sen(990),
  parts: [part('gateway:fpx', 1_000), part('fees:fpx', 10)],
  file: { sha256: 'a', lines: 2 },
};
const fromFile = (sha256: string) => ({ ...payout, file: { sha256, lines: 2 } });
type Command = Parameters<typeof settlementDecider.decide>[0];
const record = (
  settlement: NewSettlement,
  { doubts = [], isConfirmed = false }: { doubts?: readonly string[]; isConfirmed?: boolean } = {},
): Command => ({ type: 'RecordSettlement', settlement, doubts, isConfirmed });
const reverse = (note = 'Twice', recordedAt = at): Command => ({
  type: 'ReverseSettlement',
  at,
  note,
  recordedAt,
});

/** The events of the last command after those before it, which must be accepted; or the code of its refusal. */
function decide(...commands: readonly Command[]): readonly SettlementEvent['type'][] | string {
  let state = settlementFold.initial;
  let outcome: readonly SettlementEvent['type'][] | string = [];
  for (const [index, command] of commands.entries()) {
    const decided = settlementDecider.decide(command, state);
    if (decided instanceof Refused) {
      if (index < commands.length - 1) throw decided;
      return decided.code;
    }
    outcome = decided.map(({ type }) => type);
    state = decided.reduce(settlementDecider.evolve, state);
  }
  return outcome;
}

test('what adds up is recorded, and the same file again changes nothing', (t) => {
  t.deepEqual(decide(record(payout)), ['SettlementRecorded']);
  const later = { ...payout, parts: [{ ...part('gateway:cc', 1_000), openedOn: '2026-11-20' }] };
  t.deepEqual(decide(record(payout), record(later)), [], 'the books have learned of its charges meanwhile');
  t.is(decide(record(payout), record(fromFile('b'))), 'settlement_recorded');
  t.is(decide(record(payout), record(fromFile('b'), { isConfirmed: true })), 'settlement_recorded');
});

test('figures that do not add up are refused, and both are named', (t) => {
  const refusalOf = (change: Partial<NewSettlement>) => {
    const decided = settlementDecider.decide(record({ ...payout, ...change }), settlementFold.initial);
    return decided instanceof Refused ? decided.message : decided;
  };
  t.is(
    refusalOf({ totalSen: sen(1_000) }),
    'The amounts less the fees are RM 9.90, and the total is RM 10.00',
  );
  t.regex(String(refusalOf({ parts: [part('fees:fpx', 10)], totalSen: sen(0) })), /are RM -0.10, and/);
  t.is(refusalOf({ parts: [part('merchant:council', 990)] }), 'A payout does not settle merchant:council');
  t.is(refusalOf({ kind: 'remittance' }), 'A remittance does not settle gateway:fpx');
  t.is(refusalOf({ settledOn: '2026-11-22' }), 'The day is in the future');
  t.is(refusalOf({ parts: [], totalSen: sen(0) }), 'No amount is given');
  const most = Array.from({ length: 1_000 }, () => part('gateway:fpx', 1));
  t.not(refusalOf({ parts: most, totalSen: sen(1_000) }), 'A settlement has at most 1000 amounts');
  const tooMany = [...most, part('gateway:fpx', 1)];
  t.is(refusalOf({ parts: tooMany, totalSen: sen(1_001) }), 'A settlement has at most 1000 amounts');
});

test('what is in doubt is recorded only if that is confirmed', (t) => {
  const doubts = ['PO-2 has the same total'];
  t.is(decide(record(payout, { doubts })), 'settlement_in_doubt');
  t.deepEqual(decide(record(payout, { doubts, isConfirmed: true })), ['SettlementRecorded']);
  t.deepEqual(decide(record(payout), record(payout, { doubts })), []);
  const wrong = { ...payout, totalSen: sen(1) };
  t.is(decide(record(wrong, { doubts, isConfirmed: true })), 'invalid_settlement');
});

test('whoever confirms is told everything that is in doubt', (t) => {
  const doubts = ['1 of its charges is not in the books', 'PO-2 has the same total'];
  const recorded = settlementFold.evolve(settlementFold.initial, {
    type: 'SettlementRecorded',
    data: { ...payout, postingRule: 1 },
  });
  const reversed = settlementFold.evolve(recorded, {
    type: 'SettlementReversed',
    data: { at: payout.at, note: 'Wrong', postingRule: 1 },
  });
  const decided = settlementDecider.decide(record(payout, { doubts }), reversed);
  t.is(
    decided instanceof Refused && decided.message,
    `PO-1 was recorded before, and reversed; ${doubts.join('; ')}: confirm that it is to be recorded`,
  );
});

test('it is reversed once, and recorded again only if that is confirmed', (t) => {
  t.is(decide(reverse()), 'unknown_settlement');
  t.deepEqual(decide(record(payout), reverse()), ['SettlementReversed']);
  t.deepEqual(decide(record(payout), reverse(), reverse()), []);
  t.is(decide(record(payout), reverse(), reverse('Another reason')), 'settlement_recorded');
  t.is(decide(record(payout), reverse(), record(payout)), 'settlement_in_doubt');
  t.deepEqual(decide(record(payout), reverse(), record(payout, { isConfirmed: true })), [
    'SettlementRecorded',
  ]);
  const again = record({ ...payout, at: '2026-11-21T03:00:00.000Z' }, { isConfirmed: true });
  t.is(decide(record(payout), reverse(), again, reverse()), 'settlement_recorded', 'asked on an old page');
  const wrong = { ...payout, totalSen: sen(0) };
  t.is(decide(record(payout), reverse(), record(wrong, { isConfirmed: true })), 'invalid_settlement');
});

test('a reference is the same however it is spaced and cased, for each kind', (t) => {
  t.is(settlementIdOf('payout', 'PO 1'), settlementIdOf('payout', ' po1'));
  t.not(settlementIdOf('payout', 'PO-1'), settlementIdOf('remittance', 'PO-1'));
});
