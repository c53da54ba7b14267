/**
 * Exports the payments of a range of time: as JSON lines, with every event of each, or as CSV, with a row for each. The
 * read model says which payments there are; their streams say what happened to them.
 */
import type { Knex } from 'knex';
import { InvalidFields } from '../../commands/fields.ts';
import { metadataValue } from '../../events/envelope.ts';
import { paymentStream } from '../../events/payment.ts';
import type { OpenSealed, PersonalDataReader } from '../../events/personal-data.ts';
import type { EventStore, RecordedEvent } from '../../eventstore/event-store.ts';
import { readSpan } from '../../kernel/malaysian-time.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { payments } from '../../projections/payments/projection.ts';
import { paymentsInOrder } from '../../projections/payments/queries.ts';
import { projectionStatus } from '../../projections/runtime/checkpoints.ts';
import { isReady, recordedUntil } from '../../projections/runtime/lag.ts';
import { timeForms } from '../history/history.ts';
import { openData } from '../history/open-data.ts';
import { csvHead, csvRows } from './csv.ts';
import { createLines } from './lines.ts';

export type ExportRequest = ReturnType<typeof readExportRequest>;

/** The export would not be complete; the message says why. */
export class ExportImpossible extends Error {
  override name = 'ExportImpossible';
}

export type Export = {
  /** The text, piece by piece. Throws ExportImpossible, EventStoreUnavailable and the database's errors. */
  pieces: AsyncIterable<string>;
  /**
   * So far; after the last piece, of all. The checksum is that of the last line, `''` for CSV. `plainAfterErasure` counts
   * payments whose personal data were erased, but which an earlier release wrote in plain text, as they still are here.
   */
  totals(): { events: number; payments: number; plainAfterErasure: number; checksum: string };
};

type Dependencies = {
  eventStore: Pick<EventStore, 'firstAfter' | 'load'>;
  db: Knex;
  personalData: Pick<PersonalDataReader, 'open'>;
  runtime: Runtime;
};

/** Long enough for a running projection, even a busy one. */
const catchUpMs = 5_000;

/**
 * Reads the fields as people type them: the period in which payments were requested, and the merchant (null for all). A
 * day means the whole day; `to` itself is excluded. `opened` is not empty to have personal data in readable form.
 * Throws InvalidFields.
 */
export function readExportRequest(
  fields: Partial<Record<'from' | 'to' | 'merchant' | 'format' | 'opened', string | undefined>>,
) {
  const { from = '', to = '', merchant, format: named = 'jsonl', opened = '' } = fields;
  const [first, last] = [readSpan(from), readSpan(to)];
  if (!first) throw new InvalidFields(`from ${timeForms}`);
  if (!last) throw new InvalidFields(`to ${timeForms}`);
  if (last.end <= first.start) throw new InvalidFields('to must be later than from');
  const format = (['jsonl', 'csv'] as const).find((each) => each === named);
  if (!format) throw new InvalidFields('format must be jsonl or csv');
  if (opened !== '' && format === 'csv') throw new InvalidFields('a CSV file holds nothing about payers');
  const span = { start: first.start, end: last.end };
  return { span, merchantCode: merchant || null, format, isOpened: opened !== '' };
}

/**
 * Waits a little until the read model holds everything up to now, so that nothing is left out. Throws ExportImpossible
 * when it stays behind, EventStoreUnavailable and the database's errors.
 */
export async function beginExport(request: ExportRequest, dependencies: Dependencies): Promise<Export> {
  const { span, merchantCode, format, isOpened } = request;
  const { db, personalData, runtime } = dependencies;
  const now = runtime.now();
  const until = recordedUntil(new Date(span.end), now);
  const sources = { ...dependencies, projectionStatus: () => projectionStatus(db) };
  if (!(await isReady(payments, { until, waitMs: catchUpMs }, sources)))
    throw new ExportImpossible(
      'The read model of payments is behind the event store, and payments would be left out; try again when it has caught up',
    );
  if (format === 'csv') return csvExport(streamsOf(request, dependencies));
  const lines = createLines();
  let plainAfterErasure = 0;
  async function* pieces(): AsyncGenerator<string> {
    const exportedAt = now.toISOString();
    yield lines.head({ version: 1, from: span.start, to: span.end, merchant: merchantCode, exportedAt });
    for await (const streams of streamsOf(request, dependencies))
      for (const stream of streams) {
        if (isPlainAfterErasure(stream)) plainAfterErasure += 1;
        yield lines.payment(stream, isOpened ? await openAll(stream, personalData.open) : []);
      }
    yield lines.end();
  }
  return { pieces: pieces(), totals: () => ({ ...lines.totals(), plainAfterErasure }) };
}

function isPlainAfterErasure(stream: readonly RecordedEvent[]): boolean {
  const erased = stream.findLastIndex(({ type }) => type === 'PersonalDataErased');
  return stream.slice(0, Math.max(erased, 0)).some((event) => metadataValue(event, 'schemaVersion') === 1);
}

async function openAll(stream: readonly RecordedEvent[], open: OpenSealed): Promise<unknown[]> {
  return await Promise.all(stream.map(({ data, streamName }) => openData(data, streamName, open)));
}

function csvExport(all: AsyncIterable<RecordedEvent[][]>): Export {
  let rows = 0;
  async function* pieces(): AsyncGenerator<string> {
    yield csvHead();
    for await (const streams of all) {
      rows += streams.length;
      yield csvRows(streams);
    }
  }
  return {
    pieces: pieces(),
    totals: () => ({ events: 0, payments: rows, plainAfterErasure: 0, checksum: '' }),
  };
}

/** How many streams are loaded, and held in memory, at a time. */
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
        throw new ExportImpossible(`The stream of payment ${group[missing]} is missing from the event store`);
      yield streams;
    }
  }
}
