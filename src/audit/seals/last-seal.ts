/** Where sealing goes on: the last seal, and how the log is counted up to it once more. */
import { readSeal, UnreadableEvent } from '../../events/codec.ts';
import { genesisHash, type Metadata } from '../../events/envelope.ts';
import { emptyTally, type LogSealed, sealsStream, type Tally } from '../../events/seals.ts';
import type { EventStore, ExpectedRevision, Position, RecordedEvent } from '../../eventstore/event-store.ts';
import { isSigned } from './key.ts';

/** The log is not what the last seal says: somebody must look, with `ledger verify`. No personal data. */
export class Unaccountable extends Error {
  override name = 'Unaccountable';
}

/** The end of the seals: what the next one is chained onto and must go on from. */
export type Sealed = { seal: LogSealed | null; tally: Tally; revision: ExpectedRevision; hash: string };

const nothingSealed: Sealed = { seal: null, tally: emptyTally, revision: 'no_stream', hash: genesisHash };

/** The last seal, and the tally and place from which counting leads up to it. Throws Unaccountable. */
export async function lastSealed(
  eventStore: Pick<EventStore, 'load' | 'loadLast'>,
): Promise<{ last: Sealed; before: Tally; after: Position | null }> {
  const stored = await eventStore.loadLast(sealsStream);
  if (!stored) return { last: nothingSealed, before: emptyTally, after: null };
  const last = sealedBy(stored);
  if (stored.revision === 0) return { last, before: emptyTally, after: null };
  const [storedBefore] = await eventStore.load(sealsStream, stored.revision - 1, 1);
  const before = storedBefore && sealedBy(storedBefore);
  if (!before || before.hash !== last.seal?.previousSeal) throw disagreement(last);
  return { last, before: before.tally, after: await placeOf(before, eventStore) };
}

/** What a stored seal says. Throws Unaccountable when it is not what was signed. */
export function sealedBy(stored: RecordedEvent): Sealed & { seal: LogSealed } {
  const { revision } = stored;
  try {
    const seal = readSeal(stored).data;
    const { count, runningHash } = seal;
    const { hash } = stored.metadata as Metadata;
    if (isSigned(seal)) return { seal, tally: { count, runningHash }, revision, hash };
  } catch (error) {
    if (!(error instanceof UnreadableEvent)) throw error;
  }
  throw new Unaccountable(`Seal ${revision} is not what was signed`);
}

/** Where the seal's last event is in this log: in a restored copy that is not where the seal says. Throws Unaccountable. */
export async function placeOf(
  { seal, revision }: Sealed & { seal: LogSealed },
  eventStore: Pick<EventStore, 'load'>,
): Promise<Position> {
  const [event] = await eventStore.load(seal.lastEvent.stream, seal.lastEvent.revision, 1);
  if (event?.id === seal.lastEvent.id) return event.position;
  throw new Unaccountable(`The event that seal ${revision} ends with is not in the log`);
}

export function disagreement({ revision }: Sealed): Unaccountable {
  return new Unaccountable(`The log is not what seal ${revision} says`);
}
