/**
 * Settlement: what the gateway paid out to us, and what we remitted to agencies. Each payout and each batch of
 * remittances has a stream of its own: its events, their fold, and what they post. They hold no personal data. Decisions:
 * src/commands/settlement.ts.
 */
import { createHash } from 'node:crypto';
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
  optional,
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

/** An amount out of a clearing account (`gateway:<method>`, `merchant:<code>`), or a fee kept (`fees:<method>`). */
const SettlementPart = object({
  account: pattern(string(), /^(gateway|fees|merchant):./),
  /** When the settled charges were recorded; null if that is not known. */
  openedOn: nullable(day),
  amountSen: sen,
});
export type SettlementPart = Infer<typeof SettlementPart>;

const SettlementRecorded = object({
  at: utc,
  kind: enums(settlementKinds),
  /** The reference that the payer gave it on the statement of our bank. */
  reference: string(),
  /** When our bank account was credited or debited. */
  settledOn: day,
  /** By how much: the parts without the fees. */
  totalSen: sen,
  parts: array(SettlementPart),
  /** The `chargeNameOf` of each charge that a payout names, one after the other. Earlier releases did not record them. */
  charges: optional(pattern(string(), /^([A-Za-z0-9+/]{8})+$/)),
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
  /** Without the names of its charges, of which there may be many. */
  recorded: Omit<SettlementRecorded, 'charges'> | null;
  reversed: { at: string; note: string } | null;
};

export const settlementFold: Fold<Settlement, SettlementEvent> = {
  prefix: 'settlement-',
  initial: { recorded: null, reversed: null },
  read: readerOf(settlementEvents),
  evolve(state, event) {
    if (event.type === 'SettlementReversed')
      return state.recorded ? { ...state, reversed: event.data } : state;
    const { charges, ...recorded } = event.data;
    return { recorded, reversed: null };
  },
};
export const settlementStream = (id: string) => `${settlementFold.prefix}${id}`;

/** One stream for each reference, however it is spaced and cased. */
export function settlementIdOf(kind: SettlementKind, reference: string): string {
  return derivedId('settlement', [kind, reference.replace(/\s+/g, '').toUpperCase()]);
}

/** The length of a charge's name: one event has room for 100,000 of them. */
const chargeNameLength = 8;

/**
 * A short name of a charge, derived from the place of its entry or, while the books do not have it, from its number. Two
 * charges have the same one with a chance of 1 in 2^48, so it may raise a question but decide nothing. settled-charges.sql
 * derives it too.
 */
export const chargeNameOf = (key: string) =>
  createHash('sha256').update(key).digest('base64').slice(0, chargeNameLength);

export const chargesIn = ({ charges = '' }: SettlementRecorded): string[] =>
  Array.from({ length: charges.length / chargeNameLength }, (_, index) =>
    charges.slice(index * chargeNameLength, (index + 1) * chargeNameLength),
  );

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

function postingsOf({ kind, parts, totalSen }: Omit<SettlementRecorded, 'charges'>): Posting[] {
  const isPayout = kind === 'payout';
  const total = (isPayout ? debit : credit)('bank', BigInt(totalSen));
  const settled = parts.map(({ account, amountSen, openedOn }) => {
    const post = account.startsWith('fees:') || !isPayout ? debit : credit;
    return { ...post(account as Account, BigInt(amountSen)), openedOn };
  });
  return [{ ...total, openedOn: null }, ...settled];
}
