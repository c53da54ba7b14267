/**
 * Exports the payments of a range of time: as JSON lines, with every event of each, or as CSV, with a row for each. The
 * read model says which payments there are; their streams say what happened to them.
 */
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import { portionsOf } from '@ledger/kernel/pages.ts';
import { isReady, recordedUntil } from '@ledger/projections/runtime/lag.ts';
import type { Stores } from '@ledger/projections/runtime/stores.ts';
import { emptyRange } from '@ledger/transparency-log/tree.ts';
import { InvalidFields } from '../../commands/fields.ts';
import { readSpan } from '../../common/malaysian-time.ts';
import { metadataValue } from '../../events/envelope.ts';
import { paymentStream } from '../../events/payment.ts';
import { sealsStream } from '../../events/seals.ts';
import type { Scope } from '../../events/user.ts';
import { payments } from '../../projections/payments/projection.ts';
import { paymentsInOrder } from '../../projections/payments/queries.ts';
import { timeForms } from '../history/history.ts';
import { openData } from '../history/open-data.ts';
import { lastCheckpoint, lastSealWhere, type TreeSeal } from '../seals/find-seals.ts';
import { leavesBetween } from '../seals/leaves.ts';
import { csvHead, csvRows } from './csv.ts';
import { createLines, type ExportRange, type LeafEntry } from './lines.ts';

export type ExportRequest = ReturnType<typeof readExportRequest>;

/** The export would not be complete; the message says why. */
export class ExportImpossible extends Error {
  override name = 'ExportImpossible';
}

export type Export = {
  /** The text, piece by piece. Throws ExportImpossible, EventStoreUnavailable and the database's errors. */
  pieces: AsyncIterable<string>;
  /**
   * What was exported so far, which is everything after the last piece. The checksum is that of the last line, `''` for
   * CSV. `plainAfterErasure` counts payments whose personal data were erased, but which an earlier release wrote in plain
   * text, as they still are here.
   */
  totals(): { events: number; payments: number; plainAfterErasure: number; checksum: string };
};

type Dependencies = Omit<Stores<'firstAfter' | 'load' | 'loadLast' | 'subscribe'>, 'log'>;

/** Long enough for a running projection, even a busy one. */
const catchUpMs = 5_000;

/**
 * Reads the fields as people type them: the period in which payments were requested, and the merchant (null for all). A
 * day means the whole day; `to` itself is excluded. A non-empty `opened` asks for personal data in readable form.
 * `scope` limits it further. Throws InvalidFields.
 */
export function readExportRequest(
  fields: Partial<Record<'from' | 'to' | 'merchant' | 'format' | 'opened', string | undefined>>,
  scope: Scope,
) {
  const { from = '', to = '', merchant, format: named = 'jsonl', opened = '' } = fields;
  const [first, last] = [readSpan(from), readSpan(to)];
  if (!first) throw new InvalidFields(['from', timeForms]);
  if (!last) throw new InvalidFields(['to', timeForms]);
  if (last.end <= first.start) throw new InvalidFields(['to', 'must be later than the beginning']);
  const format = (['jsonl', 'csv'] as const).find((each) => each === named);
  // A file of JSON lines proves that it is complete by showing when each payment of any merchant was requested.
  if (scope && format !== 'csv') throw new InvalidFields(['format', 'must be csv']);
  if (!format) throw new InvalidFields(['format', 'must be jsonl or csv']);
  if (opened !== '' && format === 'csv') throw new InvalidFields('a CSV file holds nothing about payers');
  const span = { start: first.start, end: last.end };
  return { span, merchantCode: merchant || null, scope, format, isOpened: opened !== '' };
}

/** What the access log says of it. */
export function detailOf({ format, merchantCode, scope, span }: ExportRequest): string {
  const whose = merchantCode ?? scope?.join(', ') ?? 'all merchants';
  return `${format} of ${whose}, ${span.start} to ${span.end}`;
}

/**
 * Waits a little until the read model holds everything up to now, so that nothing is left out. Throws ExportImpossible
 * when it stays behind, EventStoreUnavailable and the database's errors.
 */
export async function beginExport(request: ExportRequest, dependencies: Dependencies): Promise<Export> {
  const { span, merchantCode, format, isOpened } = request;
  const { eventStore, runtime } = dependencies;
  const { open } = dependencies.personalData;
  const now = runtime.now();
  const until = recordedUntil(new Date(span.end), now);
  if (!(await isReady(payments, { until, waitMs: catchUpMs }, dependencies)))
    throw new ExportImpossible(
      'The read model of payments is behind the event store, and payments would be left out; try again when it has caught up',
    );
  if (format === 'csv') return csvExport(streamsOf(request, dependencies));
  const range = { from: span.start, to: span.end, merchant: merchantCode };
  const lines = createLines();
  let plainAfterErasure = 0;
  async function* pieces(): AsyncGenerator<string> {
    yield lines.head({ version: 3, ...range, exportedAt: now.toISOString() });
    // Before any stream is loaded, so that none lacks an event of the checkpoint.
    const last = await lastCheckpoint(eventStore);
    const numbers = new Map<string, number>();
    for await (const streams of streamsOf(request, dependencies))
      for (const stream of streams) {
        if (isPlainAfterErasure(stream)) plainAfterErasure += 1;
        numbers.set(stream[0]?.streamName ?? '', numbers.size);
        const opening = isOpened ? stream.map((it) => openData(it.data, it.streamName, open)) : [];
        yield lines.payment(stream, { opened: await Promise.all(opening) });
      }
    if (last) yield* leafLines(lines, { last, numbers, range }, dependencies);
    yield lines.end();
  }
  return { pieces: pieces(), totals: () => ({ ...lines.totals(), plainAfterErasure }) };
}

const leavesInLine = 500;

/** All leaves, starting before the first payment: they prove that the export is in the log and complete. */
async function* leafLines(
  lines: ReturnType<typeof createLines>,
  { last, numbers, range }: { last: TreeSeal; numbers: ReadonlyMap<string, number>; range: AskedRange },
  { eventStore }: Dependencies,
): AsyncGenerator<string> {
  const untilMs = Date.parse(range.from) - disorderMs;
  const from = await lastSealWhere(eventStore, last, ({ at }) => Date.parse(at) <= untilMs);
  const { size, roots } = from?.checkpoint.range ?? emptyRange;
  const [sealed] = from ? await eventStore.load(sealsStream, from.revision, 1) : [];
  yield lines.tree({
    size,
    roots: roots.map((each) => each.toString('base64')),
    checkpoint: last.checkpoint.note,
    ...(sealed && { seal: { type: sealed.type, data: sealed.data, metadata: sealed.metadata } }),
  });
  let leaves: LeafEntry[] = [];
  for await (const { event, leaf } of leavesBetween(eventStore, { from, to: last })) {
    const number = numbers.get(event.streamName);
    if (number === undefined && isAskedFor(leaf[1], range))
      throw new ExportImpossible(
        `The read model of payments lacks ${event.streamName}, which was requested in this time span: run \`ledger verify\``,
      );
    leaves.push(number === undefined ? leaf : [number, event.revision]);
    if (leaves.length === leavesInLine) {
      yield lines.leaves(leaves);
      leaves = [];
    }
  }
  yield lines.leaves(leaves);
}

type AskedRange = Pick<ExportRange, 'from' | 'to' | 'merchant'>;

/** The most by which the time in a payment's request may differ from its append, by the sealer's clock. */
export const disorderMs = 60 * 60_000;

/** Whether the label is that of a payment that was requested in the range. */
export function isAskedFor(label: string, { from, to, merchant }: AskedRange): boolean {
  const [at = '', ...code] = label.split(' ');
  const isFrom = merchant === null || code.join(' ') === merchant;
  // They are not compared as texts, because a time may be written with milliseconds or without.
  const atMs = Date.parse(at);
  return label !== '' && isFrom && atMs >= Date.parse(from) && atMs < Date.parse(to);
}

function isPlainAfterErasure(stream: readonly RecordedEvent[]): boolean {
  const erased = stream.findLastIndex(({ type }) => type === 'PersonalDataErased');
  return stream.slice(0, Math.max(erased, 0)).some((event) => metadataValue(event, 'schemaVersion') === 1);
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

const streamsInMemory = 16;

async function* streamsOf(
  request: ExportRequest,
  { eventStore, db }: Dependencies,
): AsyncGenerator<RecordedEvent[][]> {
  for await (const ids of paymentsInOrder(db, request))
    for (const group of portionsOf(ids, streamsInMemory)) {
      const streams = await Promise.all(group.map((id) => eventStore.load(paymentStream(id))));
      const missing = streams.findIndex((events) => events.length === 0);
      if (missing !== -1)
        throw new ExportImpossible(`The stream of payment ${group[missing]} is missing from the event store`);
      yield streams;
    }
}
