/**
 * The background check: once an hour it compares the books with themselves, and the rows of payments, exceptions and
 * postings with their streams: those that have changed since the last check, those of open exceptions, and what did not
 * agree then. `ledger verify` compares everything.
 */
import type { Position } from '@ledger/event-store/event-store.ts';
import { eventsToEnd } from '@ledger/event-store/events-to-end.ts';
import { isAfter, positionText } from '@ledger/event-store/position.ts';
import { portionsOf } from '@ledger/kernel/pages.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { compareStreams } from '@ledger/projections/rebuild/compare-streams.ts';
import { type Projection, ProjectionFault } from '@ledger/projections/runtime/projection.ts';
import type { Stores } from '@ledger/projections/runtime/stores.ts';
import type { Knex } from 'knex';
import { dayBefore } from '../../common/malaysian-time.ts';
import { UnreadableEvent } from '../../events/codec.ts';
import { paymentStream, paymentStreamPrefix } from '../../events/payment.ts';
import { reconciliationFold, reconciliationStream } from '../../events/reconciliation.ts';
import { settlementFold } from '../../events/settlement.ts';
import { listExceptions } from '../../projections/exceptions/queries.ts';
import { journal } from '../../projections/journal/projection.ts';
import { differingSums, totalsOf, trialBalance } from '../../projections/journal/queries.ts';
import { payments } from '../../projections/payments/projection.ts';
import { reconciliation } from '../../projections/reconciliation/projection.ts';
import { differenceText, secondLookMs } from '../verify/read-models.ts';
import { type Checked, createViolations } from '../verify/violations.ts';

export const comparedProjections = [payments, journal, reconciliation];
const prefixes = [paymentStreamPrefix, settlementFold.prefix, reconciliationFold.prefix];

/** What a check found, and where the next one continues. JSON. */
export type CheckResult = Awaited<ReturnType<typeof check>>;

type Dependencies = Omit<Stores<'subscribe' | 'load' | 'head'>, 'log'>;

/** What a check depends on beside the stores. */
type Task = {
  /** Where it begins and what it compares again; null for the first check, which begins at the end of the log. */
  last: {
    until: { commit: string; prepare: string } | null;
    streams: readonly string[];
    days: readonly string[];
  } | null;
  /** Further streams to compare. */
  suspected?: readonly string[];
  /** How many changed streams it compares; the next check continues from there. */
  most?: number;
  signal: AbortSignal;
};

const streamsAtOnce = 50;
const pauseMs = 50;
const maxOpen = 1_000;
const maxSuspects = 1_000;

/**
 * Rows that differ are compared again after some minutes, and are violations if they still differ. Throws the stores' errors
 * and the signal's reason.
 */
export async function check(
  dependencies: Dependencies,
  { last, signal, suspected = [], most = 50_000 }: Task,
) {
  const { db, eventStore, runtime } = dependencies;
  const at = runtime.now();
  const violations = createViolations();
  const head = await eventStore.head();
  const until = last?.until && { commit: BigInt(last.until.commit), prepare: BigInt(last.until.prepare) };
  // Where an older copy of the log ends before that, it is compared from its start.
  const after = !until || (head && isAfter(until, head)) ? null : until;
  const changed = last ? await changedSince(eventStore, after, signal, most) : { names: [], until: head };
  const found = [...suspected, ...(last?.streams ?? []), ...changed.names, ...(await openExceptions(db))];
  const rows = await compareRows(dependencies, [...new Set(found)], signal);
  if (rows.suspects.length > 0) await runtime.sleep(secondLookMs, signal);
  const differing = await compareRows(dependencies, rows.suspects, signal);
  violations.addAll(differing.violations);

  const days: string[] = [];
  for (const day of new Set([...(last?.days ?? []), dayBefore(at.toISOString())])) {
    const [account, ...more] = await differingSums(db, day);
    if (account === undefined) continue;
    const text = `The sums of ${account} on ${day} are not those of its postings`;
    violations.add('the journal', text, more.length + 1);
    days.push(day);
  }
  const accounts = await trialBalance(db, at);
  const { creditSen, debitSen } = totalsOf(accounts);
  if (debitSen !== creditSen)
    violations.add('the journal', `All debits and all credits differ by ${debitSen - creditSen} sen`);
  return {
    at: at.toISOString(),
    checked: [
      { what: 'accounts, whose debits equal their credits', count: accounts.length },
      ...rows.checked,
    ],
    violations: violations.all(),
    /** Changes up to this position are compared. */
    until: changed.until && positionText(changed.until),
    /** The differences that it found. */
    streams: differing.suspects.slice(0, maxSuspects),
    days,
  };
}

/** The streams, and the position up to which it read the log. */
async function changedSince(
  eventStore: Dependencies['eventStore'],
  after: Position | null,
  signal: AbortSignal,
  most: number,
) {
  const names = new Set<string>();
  let until = after;
  const reading = { streamPrefixes: prefixes, after, signal };
  for await (const { position, streamName } of eventsToEnd(eventStore, reading)) {
    until = position;
    names.add(streamName);
    if (names.size >= most) break;
  }
  return { names: [...names], until };
}

/**
 * The streams of the newest open exceptions. Left out are the quarantine and shared numbers, which `ledger verify`
 * compares, and parked streams, whose rows stand still.
 */
async function openExceptions(db: Knex): Promise<string[]> {
  const filter = { state: 'open', kind: null, merchantCode: null, recorded: null } as const;
  const open = await listExceptions(db, filter, { limit: maxOpen, after: null });
  return open.flatMap(({ id }) => {
    const [source, name = ''] = id.split('/');
    if (source === 'difference') return reconciliationStream(name);
    return ['unmatched', 'shared', 'parked'].includes(source ?? '') ? [] : paymentStream(name);
  });
}

async function compareRows(dependencies: Dependencies, streams: readonly string[], signal: AbortSignal) {
  const violations = createViolations();
  const counts = new Map<string, number>();
  const suspects = new Set<string>();

  async function compare(projection: Projection, portion: readonly string[]): Promise<void> {
    const { name } = projection;
    try {
      const named = { streams: portion, ids: portion.map(idOf) };
      const { differences, rows } = await compareStreams(dependencies, projection, named);
      counts.set(name, (counts.get(name) ?? 0) + rows);
      for (const difference of differences) {
        violations.add(`rows of ${name}.${difference.table}`, differenceText(difference));
        suspects.add(
          portion.find((stream) => idOf(stream) === difference.key?.split(' ')[0]) ?? portion[0] ?? '',
        );
      }
    } catch (error) {
      if (!(error instanceof UnreadableEvent || error instanceof ProjectionFault)) throw error;
      const [stream = '', ...more] = portion;
      if (more.length > 0) for (const each of portion) await compare(projection, [each]);
      else {
        violations.add(`rows of ${name}`, `${stream} cannot be folded: ${reasonOf(error)}`);
        suspects.add(stream);
      }
    }
  }

  for (const portion of portionsOf(streams, streamsAtOnce)) {
    for (const projection of comparedProjections) {
      const followed = 'streamPrefixes' in projection ? projection.streamPrefixes : [];
      const its = portion.filter((stream) => followed.some((prefix) => stream.startsWith(prefix)));
      signal.throwIfAborted();
      if (its.length > 0) await compare(projection, its);
    }
    await dependencies.runtime.sleep(pauseMs, signal);
  }
  const what = (name: string) => `rows of ${name} against their streams`;
  return {
    checked: Array.from(counts, ([name, count]): Checked => ({ what: what(name), count })),
    violations: violations.all(),
    suspects: [...suspects],
  };
}

/** What follows the prefix. */
const idOf = (stream: string) =>
  stream.slice(prefixes.find((prefix) => stream.startsWith(prefix))?.length ?? 0);
