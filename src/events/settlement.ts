/**
 * Settlement: what the gateway paid out to us, and what we handed on to agencies. Each payout and each batch of
 * remittances has a stream of its own: its events, their fold, and what they post. They hold no personal data. Decisions:
 * src/commands/settlement.ts.
 */
import { derivedId } from '@ledger/kernel/derived-id.ts';
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import {
  array,
  enums,
  type Infer,
  integer,
  literal,
  min,
  nullable,
  object,
  pattern,
  string,
} from 'superstruct';
import { boundsOfDay } from '../common/malaysian-time.ts';
import { sen } from '../common/money.ts';
import { type Fold, readerOf } from './codec.ts';
import { type Account, credit, debit, type Entry, type Posting } from './postings.ts';

const settlementKinds = ['payout', 'remittance'] as const;
export type SettlementKind = (typeof settlementKinds)[number];

/** A Malaysian day. */
const day = pattern(string(), /^\d{4}-\d\d-\d\d$/);

/**
 * An amount that leaves a clearing account, `gateway:<method>` or `merchant:<code>`; or, in `fees:<method>`, what the
 * gateway kept of it.
 */
const SettlementPart = object({
  account: pattern(string(), /^(gateway|fees|merchant):./),
  /** When the settled charges were recorded; null where that is not known. */
  openedOn: nullable(day),
  amountSen: sen,
});
export type SettlementPart = Infer<typeof SettlementPart>;

const SettlementRecorded = object({
  at: utc,
  kind: enums(settlementKinds),
  /** The payer's own name of it, on the statement of our bank. */
  reference: string(),
  /** When our bank account was credited or debited. */
  settledOn: day,
  /** By how much: the parts without the fees. */
  totalSen: sen,
  parts: array(SettlementPart),
  file: object({ sha256: pattern(string(), /^[0-9a-f]{64}$/), lines: min(integer(), 1) }),
  postingRule: literal(1),
});
export type SettlementRecorded = Infer<typeof SettlementRecorded>;

export const settlementEvents = {
  SettlementRecorded,
  SettlementReversed: object({ at: utc, note: string(), postingRule: literal(1) }),
};
export type SettlementEvent = EventOf<typeof settlementEvents>;

export type Settlement = {
  recorded: SettlementRecorded | null;
  reversed: { at: string; note: string } | null;
};

export const settlementFold: Fold<Settlement, SettlementEvent> = {
  prefix: 'settlement-',
  initial: { recorded: null, reversed: null },
  read: readerOf(settlementEvents),
  evolve(state, event) {
    if (event.type === 'SettlementRecorded') return { recorded: event.data, reversed: null };
    return state.recorded ? { ...state, reversed: event.data } : state;
  },
};
export const settlementStream = (id: string) => `${settlementFold.prefix}${id}`;

/** One stream for each reference, however it is spaced and cased. */
export function settlementIdOf(kind: SettlementKind, reference: string): string {
  return derivedId('settlement', [kind, reference.replace(/\s+/g, '').toUpperCase()]);
}

/** The entry of an event (rule 1) after the state before it; null where it posts nothing. */
export function enterSettlement(before: Settlement, event: SettlementEvent): Entry | null {
  if (event.type === 'SettlementRecorded') {
    const { at, kind, settledOn } = event.data;
    return { kind, valueAt: boundsOfDay(settledOn)?.start ?? at, postings: postingsOf(event.data) };
  }
  if (!before.recorded || before.reversed) return null;
  const postings = postingsOf(before.recorded).map(({ debitSen, creditSen, ...posting }) => ({
    ...posting,
    debitSen: creditSen,
    creditSen: debitSen,
  }));
  return { kind: 'settlementReversal', valueAt: event.data.at, postings };
}

function postingsOf({ kind, parts, totalSen }: SettlementRecorded): Posting[] {
  const isPayout = kind === 'payout';
  const total = (isPayout ? debit : credit)('bank', BigInt(totalSen));
  const settled = parts.map(({ account, amountSen, openedOn }) => {
    const post = account.startsWith('fees:') || !isPayout ? debit : credit;
    return { ...post(account as Account, BigInt(amountSen)), openedOn };
  });
  return [{ ...total, openedOn: null }, ...settled];
}
