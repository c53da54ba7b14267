/**
 * The background check: once an hour it compares the books with themselves and with the payments, and the rows of payments
 * and exceptions with their streams. It takes what has changed since the last check, what did not agree then, what is open,
 * and a part of all the rest by turns, in small portions.
 */
import type { Knex } from 'knex';
import { UnreadableEvent } from '../../events/codec.ts';
import { paymentStream, paymentStreamPrefix } from '../../events/payment.ts';
import type { PersonalDataReader } from '../../events/personal-data.ts';
import { reconciliationStream, reconciliationStreamPrefix } from '../../events/reconciliation.ts';
import { settlementStreamPrefix } from '../../events/settlement.ts';
import type { EventStore, Position } from '../../eventstore/event-store.ts';
import { dayOf } from '../../kernel/malaysian-time.ts';
import { reasonOf } from '../../kernel/reason-of.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { listExceptions } from '../../projections/exceptions/queries.ts';
import { booksOfDay, dayAfter } from '../../projections/journal/agreement.ts';
import { journal } from '../../projections/journal/projection.ts';
import { trialBalance } from '../../projections/journal/queries.ts';
import { payments } from '../../projections/payments/projection.ts';
import { type ComparedTables, compareStreams } from '../../projections/rebuild/compare-streams.ts';
import { reconciliation } from '../../projections/reconciliation/projection.ts';
import { ProjectionFault } from '../../projections/runtime/projection.ts';
import { differenceText } from '../verify/rows.ts';
import { type Checked, createViolations, type Violation, type Violations } from '../verify/violations.ts';

export const compared: readonly ComparedTables[] = [
  {
    projection: payments,
    prefixes: [paymentStreamPrefix],
    idColumn: 'transaction_id',
    tables: ['payments', 'exceptions', 'unknown_outcomes'],
  },
  {
    projection: journal,
    prefixes: [paymentStreamPrefix, settlementStreamPrefix],
    idColumn: 'transaction_id',
    tables: ['postings', 'books'],
  },
  {
    projection: reconciliation,
    prefixes: [reconciliationStreamPrefix],
    idColumn: 'id',
    tables: ['discrepancies'],
  },
];
const streamPrefixes = [...new Set(compared.flatMap(({ prefixes }) => prefixes))];

/** What a check found, and where the next one goes on. JSON. */
export type CheckResult = {
  at: string;
  checked: Checked[];
  violations: Violation[];
  /** What has changed up to there is compared. */
  until: { commit: string; prepare: string } | null;
  /** The last payment and exception and the last day of those that are compared by turns. */
  payment: string;
  exception: { at: string; id: string } | null;
  day: string;
  /** What did not agree. */
  streams: string[];
  days: string[];
};

type Dependencies = {
  eventStore: Pick<EventStore, 'subscribe' | 'load' | 'head'>;
  db: Knex;
  personalData: PersonalDataReader;
  runtime: Runtime;
};

/** As many streams are read at once. */
const inPortion = 50;
const pauseMs = 50;
/** Of the payments and exceptions that are compared by turns. */
const byTurns = 500;
/** Of what has changed; the next check goes on from there. */
const maxChanged = 50_000;
const maxSuspects = 1_000;
const dayMs = 24 * 60 * 60_000;

/** `last` is null for the first check, which begins at the end of the log. Throws the stores' errors and the signal's reason. */
export async function check(
  dependencies: Dependencies,
  last: CheckResult | null,
  signal: AbortSignal,
): Promise<CheckResult> {
  const { db, eventStore, runtime } = dependencies;
  const at = runtime.now();
  const violations = createViolations();
  const rows = createRowCheck(dependencies, violations, signal);
  await rows.add(last?.streams ?? []);
  const position = last?.until ? positionOf(last.until) : await eventStore.head();
  const until = last ? await addChanged(dependencies, position, rows.add, signal) : position;
  const payment = await addPayments(db, last?.payment ?? '', rows.add);
  const exception = await addExceptions(db, last?.exception ?? null, rows.add);
  await rows.end();

  const yesterday = dayOf(new Date(at.getTime() - dayMs).toISOString());
  const day = await dayAfter(db, last?.day ?? '');
  const days: string[] = [];
  for (const each of new Set([...(last?.days ?? []), yesterday, ...(day === null ? [] : [day])]))
    if (!(await checkDay(dependencies, each, violations, signal))) days.push(each);
  const accounts = await trialBalance(db, at);
  const difference = accounts.reduce((sum, { creditSen, debitSen }) => sum + debitSen - creditSen, 0n);
  if (difference !== 0n)
    violations.add('the journal', `All debits and all credits differ by ${difference} sen`);
  return {
    at: at.toISOString(),
    checked: [
      { what: 'accounts, whose debits equal their credits', count: accounts.length },
      ...rows.checked(),
    ],
    violations: violations.all(),
    until: until && { commit: String(until.commit), prepare: String(until.prepare) },
    payment,
    exception,
    day: day ?? '',
    streams: rows.suspects(),
    days,
  };
}

const positionOf = ({ commit, prepare }: { commit: string; prepare: string }): Position => ({
  commit: BigInt(commit),
  prepare: BigInt(prepare),
});

type Add = (streams: readonly string[]) => Promise<void>;

/** Compares streams in portions, each once. */
function createRowCheck(dependencies: Dependencies, violations: Violations, signal: AbortSignal) {
  const counts = new Map<string, number>();
  const suspects = new Set<string>();
  let waiting = new Set<string>();

  async function compare(tables: ComparedTables, streams: readonly string[]): Promise<void> {
    const { projection, prefixes } = tables;
    const { name } = projection;
    try {
      const found = await compareStreams(dependencies, tables, streams);
      counts.set(name, (counts.get(name) ?? 0) + (found?.rows ?? 0));
      for (const difference of found?.differences ?? []) {
        violations.add(`rows of ${name}.${difference.table}`, differenceText(difference));
        const id = difference.key.split(' ')[0];
        const names = prefixes.map((prefix) => `${prefix}${id}`);
        suspects.add(streams.find((stream) => names.includes(stream)) ?? '');
      }
    } catch (error) {
      if (!(error instanceof UnreadableEvent || error instanceof ProjectionFault)) throw error;
      if (streams.length > 1) for (const stream of streams) await compare(tables, [stream]);
      else {
        violations.add(`rows of ${name}`, `${streams[0]} cannot be folded: ${reasonOf(error)}`);
        suspects.add(streams[0] ?? '');
      }
    }
  }

  async function end(): Promise<void> {
    const streams = [...waiting];
    waiting = new Set();
    for (const tables of compared) {
      signal.throwIfAborted();
      await compare(tables, streams);
    }
    await dependencies.runtime.sleep(pauseMs, signal);
  }

  return {
    async add(streams: readonly string[]): Promise<void> {
      for (const stream of streams) {
        waiting.add(stream);
        if (waiting.size >= inPortion) await end();
      }
    },
    end,
    checked: (): Checked[] =>
      Array.from(counts, ([name, count]) => ({ what: `rows of ${name} against their streams`, count })),
    suspects: () => [...suspects].slice(0, maxSuspects),
  };
}

/** Resolves to the position up to which the streams that have changed were added. */
async function addChanged(
  { eventStore }: Dependencies,
  after: Position | null,
  add: Add,
  signal: AbortSignal,
): Promise<Position | null> {
  let position = after;
  let names = new Set<string>();
  let count = 0;
  for await (const message of eventStore.subscribe({ streamPrefixes, after, signal })) {
    if (message.kind === 'caught_up') break;
    if (message.kind !== 'event') continue;
    position = message.event.position;
    names.add(message.event.streamName);
    if (names.size < inPortion) continue;
    await add([...names]);
    count += names.size;
    names = new Set();
    if (count >= maxChanged) break;
  }
  signal.throwIfAborted();
  await add([...names]);
  return position;
}

/** Resolves to the last one; `''` when the next turn begins at the first again. */
async function addPayments(db: Knex, after: string, add: Add): Promise<string> {
  const query = db.withSchema(payments.name).from('payments').where('transaction_id', '>', after);
  const rows: { id: string }[] = await query
    .orderBy('transaction_id')
    .limit(byTurns)
    .timeout(10_000)
    .select({ id: 'transaction_id' });
  await add(rows.map(({ id }) => paymentStream(id)));
  return rows.length < byTurns ? '' : (rows.at(-1)?.id ?? '');
}

/** Those that are open; likewise. */
async function addExceptions(
  db: Knex,
  after: CheckResult['exception'],
  add: Add,
): Promise<CheckResult['exception']> {
  const filter = { state: 'open', kind: null, merchantCode: null, recorded: null } as const;
  const page = { limit: byTurns, after: after && { at: new Date(after.at), id: after.id } };
  const open = await listExceptions(db, filter, page);
  await add(
    open.flatMap(({ id }) => {
      const [source, name = ''] = id.split('/');
      if (source === 'difference') return reconciliationStream(name);
      return source === 'payment' || source === 'attempt' ? paymentStream(name) : [];
    }),
  );
  const last = open.at(-1);
  return last && open.length === byTurns ? { at: last.at.toISOString(), id: last.id } : null;
}

/** Whether the books of a day agree. The read models may be at different positions: a difference must stay. */
async function checkDay(
  { db, runtime }: Dependencies,
  day: string,
  violations: Violations,
  signal: AbortSignal,
): Promise<boolean> {
  for (let left = 3; ; left -= 1) {
    const { accounts, collected } = await booksOfDay(db, day);
    if (accounts.length === 0 && collected.length === 0) return true;
    await runtime.sleep(2_000, signal);
    signal.throwIfAborted();
    if (left > 0) continue;
    const [account] = accounts;
    if (account !== undefined)
      violations.add(
        'the journal',
        `The sums of ${account} on ${day} are not those of its postings`,
        accounts.length,
      );
    const [merchant] = collected;
    if (merchant)
      violations.add(
        'the journal',
        `On ${day} ${merchant.code} was paid ${merchant.paidSen} sen by its payments, and ${merchant.bookedSen} by the books`,
        collected.length,
      );
    return false;
  }
}
