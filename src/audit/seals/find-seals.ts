/** Finds seals: the last one, and others by position or size. All but `allSeals` and `readLastSeal` throw Unaccountable. */
import type {
  EventStore,
  ExpectedRevision,
  Position,
  RecordedEvent,
} from '@ledger/event-store/event-store.ts';
import { isAfter } from '@ledger/event-store/position.ts';
import { rowsOf } from '@ledger/kernel/pages.ts';
import { genesisHash, hashIn } from '../../events/envelope.ts';
import { sealsStream } from '../../events/seals.ts';
import { type PlacedSeal, readSignedSeal, type Seal, signedSealIn, Unaccountable } from './stored-seals.ts';

export type TreeSeal = PlacedSeal & { checkpoint: NonNullable<Seal['checkpoint']> };

/** The last seal: the next one is chained onto it and continues its count. */
export type LastSeal = { seal: Seal | null; revision: ExpectedRevision; hash: string };

type Loads = Pick<EventStore, 'load'>;

const pageSize = 500;

export const allSeals = (eventStore: Loads) =>
  rowsOf<RecordedEvent>(pageSize, (after) =>
    eventStore.load(sealsStream, (after?.revision ?? -1) + 1, pageSize),
  );

export async function loadLastSeal(eventStore: Pick<EventStore, 'loadLast'>): Promise<LastSeal> {
  const stored = await eventStore.loadLast(sealsStream);
  if (!stored) return { seal: null, revision: 'no_stream', hash: genesisHash };
  return { seal: signedSealIn(stored), revision: stored.revision, hash: hashIn(stored) };
}

/** The seal's last event, whose position in a restored copy of the log is not what it was when it was sealed. */
export async function lastEventOf(
  { lastEvent, revision }: Pick<PlacedSeal, 'lastEvent' | 'revision'>,
  eventStore: Loads,
): Promise<RecordedEvent> {
  const [event] = await eventStore.load(lastEvent.stream, lastEvent.revision, 1);
  if (event?.id === lastEvent.id) return event;
  throw new Unaccountable(`The last event of seal ${revision} is not in the log`);
}

/** Null for a seal with a running hash. */
function treeSealIn(stored: RecordedEvent): TreeSeal | null {
  const seal = signedSealIn(stored);
  return seal.checkpoint && { ...seal, checkpoint: seal.checkpoint };
}

/** Null if there is none. */
export async function lastCheckpoint({ loadLast }: Pick<EventStore, 'loadLast'>): Promise<TreeSeal | null> {
  const stored = await loadLast(sealsStream);
  return stored && treeSealIn(stored);
}

/** The last seal; null if there is none, or it is not what was signed, which `ledger verify` reports. */
export async function readLastSeal({ loadLast }: Pick<EventStore, 'loadLast'>): Promise<Seal | null> {
  const stored = await loadLast(sealsStream);
  return stored && readSignedSeal(stored);
}

/** The last seal that ends before a position; null if none with a tree does. */
export async function checkpointBefore(
  eventStore: Loads,
  position: Position,
  last: TreeSeal,
): Promise<TreeSeal | null> {
  const endsBefore = async (seal: PlacedSeal) =>
    isAfter(position, (await lastEventOf(seal, eventStore)).position);
  return await lastSealWhere(eventStore, last, endsBefore);
}

/** The last checkpoint of at most this size; null if there is none. */
export function checkpointUpTo(eventStore: Loads, size: number, last: TreeSeal): Promise<TreeSeal | null> {
  return lastSealWhere(eventStore, last, ({ checkpoint, count }) => !checkpoint || count <= size);
}

/** The checkpoint of this size; null if there is none. */
export async function checkpointOfSize(eventStore: Loads, size: number, last: TreeSeal) {
  const found = await checkpointUpTo(eventStore, size, last);
  return found?.count === size ? found : null;
}

/** The seal right after another, or the first one with a tree. */
export async function checkpointAfter(eventStore: Loads, before: TreeSeal | null): Promise<TreeSeal | null> {
  for (let revision = (before?.revision ?? -1) + 1; ; revision += 1) {
    const [stored] = await eventStore.load(sealsStream, revision, 1);
    const sealed = stored ? treeSealIn(stored) : null;
    if (!stored || sealed) return sealed;
  }
}

/**
 * The last seal up to `last` for which `isBefore` is true; null if there is none with a tree. The search is binary, so
 * it must be true for all earlier seals, too.
 */
export async function lastSealWhere(
  eventStore: Loads,
  last: TreeSeal,
  isBefore: (seal: PlacedSeal) => boolean | Promise<boolean>,
): Promise<TreeSeal | null> {
  let found: TreeSeal | null = null;
  let [from, to] = [0, last.revision];
  while (from <= to) {
    const middle = Math.floor((from + to) / 2);
    const [stored] = await eventStore.load(sealsStream, middle, 1);
    if (stored && (await isBefore(signedSealIn(stored)))) {
      found = treeSealIn(stored);
      from = middle + 1;
    } else to = middle - 1;
  }
  return found;
}
