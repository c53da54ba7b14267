/**
 * The payments of a span of time, on their way out of the house: as JSON lines, every event of each whole, or as CSV, a
 * row each. Which payments there are is in the read model, what happened to them in their streams.
 */
import type { Knex } from 'knex';
import { InvalidFields } from '../../commands/fields.ts';
import { paymentStream } from '../../events/payment.ts';
import type { EventStore, RecordedEvent } from '../../eventstore/event-store.ts';
import { readSpan } from '../../kernel/malaysian-time.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { TimeSpan } from '../../postgres/time-span.ts';
import { payments } from '../../projections/payments/projection.ts';
import { paymentsInOrder } from '../../projections/payments/queries.ts';
import { projectionStatus } from '../../projections/runtime/checkpoints.ts';
import { isReady, recordedUntil } from '../../projections/runtime/lag.ts';
import { timeForms } from '../history/history.ts';
import { csvHead, csvRows } from './csv.ts';
import { createLines } from './lines.ts';

export type ExportFormat = 'jsonl' | 'csv';

export type ExportRequest = {
  /** When the payments were requested. */
  span: TimeSpan;
  /** Null: all merchants'. */
  merchantCode: string | null;
  format: ExportFormat;
};

/** Nothing was left out in silence: there is no export, and the sentence says why. */
export class ExportImpossible extends Error {
  override name = 'ExportImpossible';
}

export type Export = {
  /** The text, piece by piece. Throws ExportImpossible, EventStoreUnavailable and the database's errors. */
  pieces: AsyncIterable<string>;
  /** So far; after the last piece, of all. The checksum is that of the last line, `''` for CSV. */
  totals(): { events: number; payments: number; checksum: string };
};

type Dependencies = { eventStore: Pick<EventStore, 'firstAfter' | 'load'>; db: Knex; runtime: Runtime };

/** A projection that runs, however busy, has taken by then what was there before. */
const catchUpMs = 5_000;

/** Reads what somebody typed. A day means all of it; `to` itself is not within. Throws InvalidFields. */
export function readExportRequest({
  from = '',
  to = '',
  merchant,
  format = 'jsonl',
}: {
  from?: string | undefined;
  to?: string | undefined;
  merchant?: string | undefined;
  format?: string | undefined;
}): ExportRequest {
  const [first, last] = [readSpan(from), readSpan(to)];
  if (!first) throw new InvalidFields(`from ${timeForms}`);
  if (!last) throw new InvalidFields(`to ${timeForms}`);
  if (last.end <= first.start) throw new InvalidFields('to must be later than from');
  if (format !== 'jsonl' && format !== 'csv') throw new InvalidFields('format must be jsonl or csv');
  return {
    span: { start: first.start, end: last.end },
    merchantCode: merchant === undefined || merchant === '' ? null : merchant,
    format,
  };
}

/**
 * Resolves once the read model has taken what there was when it was called, so that nothing is left out; it waits a
 * little for that. Throws ExportImpossible when it stays behind, EventStoreUnavailable and the database's errors.
 */
export async function beginExport(request: ExportRequest, dependencies: Dependencies): Promise<Export> {
  const { db, runtime } = dependencies;
  const now = runtime.now();
  const until = recordedUntil(new Date(request.span.end), now);
  const sources = { ...dependencies, projectionStatus: () => projectionStatus(db) };
  if (!(await isReady(payments, { until, waitMs: catchUpMs }, sources)))
    throw new ExportImpossible(
      'The read model of payments is behind the event store, and payments would be left out; try again when it has caught up',
    );
  const lines = createLines();
  let rows = 0;
  async function* pieces(): AsyncGenerator<string> {
    const { span, merchantCode, format } = request;
    const range = {
      version: 1,
      from: span.start,
      to: span.end,
      merchant: merchantCode,
      exportedAt: now.toISOString(),
    } as const;
    yield format === 'csv' ? csvHead() : lines.head(range);
    for await (const streams of streamsOf(request, dependencies)) {
      if (format === 'csv') {
        rows += streams.length;
        yield csvRows(streams);
      } else for (const stream of streams) yield lines.payment(stream);
    }
    if (format === 'jsonl') yield lines.end();
  }
  return {
    pieces: pieces(),
    totals: () => (request.format === 'jsonl' ? lines.totals() : { events: 0, payments: rows, checksum: '' }),
  };
}

/** Streams are loaded that many at a time: as fast as the store answers, and never more of them in memory. */
const loadedAtOnce = 16;

async function* streamsOf(
  { span, merchantCode }: ExportRequest,
  { eventStore, db }: Dependencies,
): AsyncGenerator<RecordedEvent[][]> {
  for await (const ids of paymentsInOrder(db, span, merchantCode)) {
    for (let at = 0; at < ids.length; at += loadedAtOnce) {
      const group = ids.slice(at, at + loadedAtOnce);
      const streams = await Promise.all(group.map((id) => eventStore.load(paymentStream(id))));
      const missing = streams.findIndex((events) => events.length === 0);
      if (missing !== -1)
        throw new ExportImpossible(`The stream of payment ${group[missing]} is gone from the event store`);
      yield streams;
    }
  }
}
