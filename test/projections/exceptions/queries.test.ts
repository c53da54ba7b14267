// All that waits for staff, in one list, against what payments fold to and what no payment took.
import { pagesOf } from '@ledger/kernel/pages.ts';
import type { Listed } from '@ledger/postgres/listing.ts';
import { indexable } from '@ledger/postgres/table.ts';
import test from 'ava';
import fc from 'fast-check';
import { paymentDecider } from '../../../src/commands/payment.ts';
import { exceptionsOf } from '../../../src/events/exceptions.ts';
import { evolve, noPayment, type PaymentEvent, paymentStream } from '../../../src/events/payment.ts';
import {
  resolutionStream,
  unmatchedReasons,
  unmatchedResolutions,
  unmatchedStream,
} from '../../../src/events/unmatched.ts';
import {
  countOpenExceptions,
  type ExceptionFilter,
  type ListedException,
  listExceptions,
  listedKinds,
} from '../../../src/projections/exceptions/queries.ts';
import { payments } from '../../../src/projections/payments/projection.ts';
import { unmatched } from '../../../src/projections/unmatched/projection.ts';
import {
  amountSen,
  chosen,
  mismatched,
  orderNo,
  requested,
  resolving,
  result,
  resultAt,
  sen,
} from '../../support/payments.ts';
import { createDatabase } from '../../support/postgres.ts';
import { runs } from '../../support/property-runs.ts';
import { day, emptyTables, type Filled, feed, fillPayments, historyOfDay } from '../filled.ts';

const postgres = await createDatabase();

const filters: fc.Arbitrary<ExceptionFilter> = fc.record({
  state: fc.constantFrom('open', 'resolved', null),
  kind: fc.option(fc.constantFrom(...listedKinds), { freq: 2 }),
  merchantCode: fc.option(fc.constantFrom('council', 'museum', '\0'), { freq: 2 }),
  recorded: fc.option(fc.constant(day), { freq: 2 }),
});

type Unmatched = { at: string; reason: string; resolution: string | null };
const unmatchedResults: fc.Arbitrary<Unmatched[]> = fc.array(
  fc.record({
    at: fc.constantFrom(day.start, day.end, '2026-11-20T01:00:00.000Z'),
    reason: fc.constantFrom(...unmatchedReasons),
    resolution: fc.option(fc.constantFrom(...unmatchedResolutions), { freq: 2 }),
  }),
  { maxLength: 4 },
);
const resolvedAt = '2026-11-21T00:00:00.000Z';

function expectedRows(filled: readonly Filled[], others: readonly Unmatched[]): ListedException[] {
  const ofPayments = filled.flatMap(({ id, state }) =>
    exceptionsOf(state).map(({ resultNo, kind, at, amountSen, resolved }) => ({
      id: `payment/${id}/${resultNo}`,
      kind,
      merchantCode: indexable(state.request.merchant.code),
      reference: indexable(state.request.reference),
      at: new Date(at),
      amountSen,
      resolution: resolved?.resolution ?? null,
      resolvedAt: resolved ? new Date(resolved.at) : null,
    })),
  );
  const ofNone = others.map(({ at, resolution }, revision) => ({
    id: `unmatched/${revision}`,
    kind: 'unmatched' as const,
    merchantCode: null,
    reference: null,
    at: new Date(at),
    amountSen: null,
    resolution,
    resolvedAt: resolution === null ? null : new Date(resolvedAt),
  }));
  const keyOf = ({ at, id }: ListedException) => `${at.toISOString()} ${id}`;
  return [...ofPayments, ...ofNone].toSorted((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1));
}

function matches({ state, kind, merchantCode, recorded }: ExceptionFilter, row: ListedException): boolean {
  const at = row.at.toISOString();
  return (
    (state === null || (state === 'open') === (row.resolvedAt === null)) &&
    (kind === null || row.kind === kind) &&
    (merchantCode === null || row.merchantCode === indexable(merchantCode)) &&
    (recorded === null || (at >= recorded.start && at < recorded.end))
  );
}

test.serial('whatever happened and whatever is asked for, the list is what a fold says', async (t) => {
  const db = await emptyTables(postgres);
  let rowsSeen = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(historyOfDay, { maxLength: 8 }),
      unmatchedResults,
      filters,
      fc.integer({ min: 1, max: 4 }),
      async (histories, others, filter, limit) => {
        await db.raw('truncate unmatched.unmatched');
        const filled = await fillPayments(db, histories);
        const results = others.map(({ at, reason }) => ({
          type: 'GatewayResultUnmatched',
          data: {
            at,
            reason,
            channel: 'generic',
            verified: true,
            evidence: { plain: {} },
            fingerprint: null,
          },
        }));
        await feed(db, unmatched, unmatchedStream, results);
        for (const [revision, { resolution }] of others.entries()) {
          const data = { at: resolvedAt, revision, resolution, note: 'n' };
          if (resolution !== null)
            await feed(db, unmatched, resolutionStream(String(revision)), [
              { type: 'UnmatchedResultResolved', data },
            ]);
        }
        const all = expectedRows(filled, others);
        const expected = all.filter((row) => matches(filter, row));
        const listed: ListedException[] = [];
        const load = (after: Listed<ListedException> | null) => listExceptions(db, filter, { limit, after });
        for await (const page of pagesOf(limit, load))
          listed.push(...page.map(({ cursor: _, ...row }) => row));
        t.deepEqual(listed, expected);
        rowsSeen += listed.length;

        const open = all.filter((row) => row.resolvedAt === null);
        const counts = listedKinds.map((kind) => [kind, open.filter((row) => row.kind === kind).length]);
        t.deepEqual(await countOpenExceptions(db, null), Object.fromEntries(counts));
      },
    ),
    { numRuns: runs(60) },
  );
  t.true(rowsSeen > 0);
});

test.serial(
  'an unknown outcome is listed with the same amount whether its payment was followed or read at once',
  async (t) => {
    const db = await emptyTables(postgres);
    const part = result(2, 'succeeded', { amountSen: sen(amountSen / 2) });
    const begun = [
      requested(),
      chosen(1),
      { type: 'AttemptOutcomeUnknown', data: { at: resultAt, orderNo: orderNo(1) } } as const,
      chosen(2),
      mismatched(part),
    ];
    const terms = { toldOf: [], takesParts: true, approvalAboveSen: null };
    const credited = paymentDecider.decide(
      { ...resolving(1, 'credited'), terms },
      begun.reduce(evolve, noPayment),
    ) as PaymentEvent[];
    const [followed, atOnce] = ['P1', 'P2'];
    await feed(db, payments, paymentStream(followed), begun);
    await feed(db, payments, paymentStream(followed), [...begun, ...credited]);
    await feed(db, payments, paymentStream(atOnce), [...begun, ...credited]);
    const rows = await db('payments.exceptions')
      .where({ source: 'attempt' })
      .orderBy('transaction_id')
      .pluck('amount_sen');
    t.deepEqual(rows, [amountSen / 2, amountSen / 2]);
  },
);
