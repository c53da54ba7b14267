/** Reads a state to show it: from its row in Postgres if that is recent enough, else from the stream. Decision 17. */
import { type EventStore, EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import type { HeadCache } from '@ledger/event-store/head-cache.ts';
import type { Log } from '@ledger/kernel/log.ts';
import { reasonWithoutValues } from '@ledger/postgres/error-codes.ts';
import type { Decider } from '../../commands/decider.ts';
import { loadHead } from '../../commands/execute.ts';
import { UnreadableEvent } from '../../events/codec.ts';

type Row<State> = { revision: number; state: State };

export type Found<State, ItsRow> = {
  state: State;
  /** The row that the state is from, if events may be missing in it because the stream could not be read; else null. */
  outdated: ItsRow | null;
};

/**
 * The function returned reads one state; `told` is the revision that the reader must see, null if there is none. A row
 * serves if it is behind neither that nor the head that this process knows; if neither is known, only a final row does.
 * Otherwise the stream is folded; if that fails, any row serves, as outdated. Without one, throws what failed.
 */
export function createReadState<State, Event, ItsRow extends Row<State>>(dependencies: {
  streamOf: (id: string) => string;
  decider: Pick<Decider<State, never, Event>, 'initial' | 'read' | 'evolve'>;
  /** Null when there is no row (yet). Rejects when Postgres is down. */
  findRow: (id: string) => Promise<ItsRow | null>;
  /** Whether the status is the last: what may follow are notes for the reader, which a row may lack for a while. */
  isFinal: (state: ItsRow['state']) => boolean;
  eventStore: Pick<EventStore, 'load'>;
  heads: Pick<HeadCache, 'revisionOf'>;
  log: Log;
}) {
  const { streamOf, decider, findRow, isFinal, eventStore, heads, log } = dependencies;
  async function tryToFind(id: string): Promise<ItsRow | null> {
    try {
      return await findRow(id);
    } catch (error) {
      const reason = reasonWithoutValues(error);
      log.warn({ reason }, 'a row cannot be read from Postgres; its stream is read instead');
      return null;
    }
  }

  return async (id: string, told: number | null = null): Promise<Found<State, ItsRow>> => {
    const streamName = streamOf(id);
    const row = await tryToFind(id);
    const known = heads.revisionOf(streamName);
    const isUnknown = told === null && known === null && !(row && isFinal(row.state));
    const needed = isUnknown ? Number.POSITIVE_INFINITY : Math.max(told ?? 0, known ?? 0);
    if (row && row.revision >= needed) return { state: row.state, outdated: null };
    try {
      const { state } = await loadHead(eventStore, streamName, decider);
      return { state, outdated: null };
    } catch (error) {
      const isKnown = error instanceof EventStoreUnavailable || error instanceof UnreadableEvent;
      if (!row || !isKnown) throw error;
      log.warn({ reason: reasonWithoutValues(error) }, 'a stream cannot be read; its row is shown instead');
      return { state: row.state, outdated: row };
    }
  };
}
