/**
 * An export as JSON lines: the first line says what was exported, the last that it is complete. Every line ends with a
 * checksum over itself and the line before it, so that a change of any byte is found, with its line.
 * content/docs/audit.md says what the checksums do not prove.
 */
import { createHash } from 'node:crypto';
import { type Infer, integer, literal, min, nullable, object, optional, string, unknown } from 'superstruct';
import { genesisHash } from '../../events/envelope.ts';
import type { RecordedEvent } from '../../eventstore/event-store.ts';
import { utc } from '../../kernel/structs.ts';

const count = min(integer(), 0);
const line = { line: count, checksum: string() };

/** Payments requested from `from` on and before `to`; of all merchants where `merchant` is null. */
const Range = object({
  version: literal(1),
  from: utc,
  to: utc,
  merchant: nullable(string()),
  exportedAt: utc,
});
export type ExportRange = Infer<typeof Range>;

export const HeadLine = object({ ...line, export: Range });
export const EventLine = object({
  ...line,
  stream: string(),
  revision: count,
  position: object({ commit: string(), prepare: string() }),
  id: string(),
  created: utc,
  type: string(),
  data: unknown(),
  metadata: unknown(),
  /** Only in an export with personal data: the data with what they hold sealed opened. Not part of the event. */
  opened: optional(unknown()),
});
export type EventLine = Infer<typeof EventLine>;
export const EndLine = object({ ...line, end: object({ events: count, payments: count }) });

/** What the first line is chained onto. */
export const firstChecksum = genesisHash;

/** The checksum of a line, from its bytes in the file without the checksum itself. */
export function checksumOf(previous: string, bytes: string | Buffer): string {
  return createHash('sha256').update(previous).update(bytes).digest('hex');
}

/** How every line ends. */
export const tail = /,"checksum":"[0-9a-f]{64}"\}$/;
/** How many bytes of every line are its checksum. */
export const tailLength = ',"checksum":""}'.length + 64;

/** Writes the lines of one export, each chained onto the one before. */
export function createLines() {
  let written = 0;
  let checksum = firstChecksum;
  let events = 0;
  let payments = 0;

  function next(content: object): string {
    written += 1;
    const text = JSON.stringify({ line: written, ...content }).slice(0, -1);
    checksum = checksumOf(checksum, text);
    return `${text},"checksum":"${checksum}"}\n`;
  }

  return {
    head: (range: ExportRange) => next({ export: range }),
    /** `opened` has the data of each event with personal data opened, or is empty. */
    payment(stored: readonly RecordedEvent[], opened: readonly unknown[] = []): string {
      payments += 1;
      events += stored.length;
      const withOpened = (index: number) => (opened.length > 0 ? { opened: opened[index] } : {});
      return stored.map((event, index) => next({ ...contentOf(event), ...withOpened(index) })).join('');
    },
    end: () => next({ end: { events, payments } }),
    /** The checksum so far. After the end, it covers every byte of the file. */
    totals: () => ({ events, payments, checksum }),
  };
}

function contentOf(event: RecordedEvent): Omit<EventLine, 'line' | 'checksum' | 'opened'> {
  const { streamName, revision, position, id, created, type, data, metadata } = event;
  return {
    stream: streamName,
    revision,
    position: { commit: String(position.commit), prepare: String(position.prepare) },
    id,
    created: created.toISOString(),
    type,
    data,
    metadata,
  };
}
