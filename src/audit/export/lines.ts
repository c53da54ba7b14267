/**
 * An export as JSON lines: the first line says what was exported, the last that it is complete. Every line ends with a
 * checksum over itself and the line before it, so that a change of any byte is found, with its line.
 * content/docs/audit.md says what the checksums do not prove.
 */
import { createHash } from 'node:crypto';
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import { positionText } from '@ledger/event-store/position.ts';
import { utc } from '@ledger/kernel/structs.ts';
import {
  array,
  enums,
  type Infer,
  integer,
  min,
  nullable,
  object,
  optional,
  string,
  tuple,
  type,
  union,
  unknown,
} from 'superstruct';
import { genesisHash } from '../../events/envelope.ts';
import type { Leaf } from '../../events/seals.ts';
import type { EventProof } from '../seals/leaves.ts';

const count = min(integer(), 0);
const line = { line: count, checksum: string() };

/** Payments requested from `from` on and before `to`; of all merchants where `merchant` is null. */
const Range = object({
  /** Version 1 had no proofs; in version 2 nothing showed when the leaves began. */
  version: enums([1, 2, 3]),
  from: utc,
  to: utc,
  merchant: nullable(string()),
  exportedAt: utc,
});
export type ExportRange = Infer<typeof Range>;

export const HeadLine = object({ ...line, export: Range });
/** The hashes are in base64. */
const Proof = object({ checkpoint: string(), index: count, hashes: array(string()) });

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
  /** Proves that the event is in the log. If the file has the leaves of the tree, those prove it. */
  proof: optional(nullable(Proof)),
});
export type EventLine = Infer<typeof EventLine>;
export const EndLine = object({ ...line, end: object({ events: count, payments: count }) });

/**
 * The tree before the first leaf that follows, its roots in base64, and the checkpoint after the last one. `seal` is the
 * event that sealed that tree, and says when; without it the leaves begin with the log.
 */
export const TreeLine = object({
  ...line,
  tree: object({
    size: count,
    roots: array(string()),
    checkpoint: string(),
    seal: optional(type({ type: string(), data: unknown(), metadata: unknown() })),
  }),
});
export type TreeStart = Infer<typeof TreeLine>['tree'];

const LeafText = tuple([string(), string(), string()]);

/** An event of the log by its leaf alone, without its content. */
export const LeafLine = object({ ...line, leaf: LeafText, proof: Proof });

/** In the order of the log: for an event in the file its payment, counted from 0, and revision; for others the leaf. */
const LeafEntry = union([tuple([count, count]), LeafText]);
export type LeafEntry = Infer<typeof LeafEntry>;
export const LeavesLine = object({ ...line, leaves: array(LeafEntry) });

/** The checksum onto which the first line is chained. */
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
    /** `opened` has the data of each event with personal data opened, and `proofs` its proof; or they are empty. */
    payment(
      stored: readonly RecordedEvent[],
      { opened = [], proofs = [] }: { opened?: readonly unknown[]; proofs?: readonly unknown[] } = {},
    ): string {
      payments += 1;
      events += stored.length;
      const more = (index: number) => ({
        ...(opened.length > 0 && { opened: opened[index] }),
        ...(proofs.length > 0 && { proof: proofs[index] }),
      });
      return stored.map((event, index) => next({ ...contentOf(event), ...more(index) })).join('');
    },
    leaf: (leaf: Leaf, proof: EventProof) => next({ leaf, proof }),
    tree: (tree: TreeStart) => next({ tree }),
    leaves: (leaves: readonly LeafEntry[]) => next({ leaves }),
    end: () => next({ end: { events, payments } }),
    /** The checksum so far. After the end, it covers every byte of the file. */
    totals: () => ({ events, payments, checksum }),
  };
}

function contentOf(event: RecordedEvent): Omit<EventLine, 'line' | 'checksum' | 'opened'> {
  const { streamName: stream, revision, id, created, type, data, metadata } = event;
  const position = positionText(event.position);
  return { stream, revision, position, id, created: created.toISOString(), type, data, metadata };
}
