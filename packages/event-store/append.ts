/** Appends whose outcome is always determined: when an answer is lost, the stream itself is read. */
import { retry } from '@ledger/kernel/retry.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { type Confirmation, type EncodedAppend, encodeAppend } from './append-message.ts';
import { describe, isDefinite } from './errors.ts';
import { type Epoch, type EventStore, EventStoreUnavailable, WrongExpectedRevision } from './event-store.ts';

type Appended = Awaited<ReturnType<EventStore['append']>>;

/**
 * `append` of an event store; `attempt` makes one attempt, which the server may work on for `attemptMs`. The same events
 * at the same explicit revision can be sent again without harm: at most one of the attempts can go through. Gives up
 * with EventStoreUnavailable after about `giveUpAfterMs`, or once the signal aborts.
 */
export function createAppend(dependencies: {
  attempt(append: EncodedAppend): Promise<Confirmation & { epoch: Epoch }>;
  attemptMs: number;
  /** Says why, if the store has not answered for so long that trying on is futile. */
  whyAway(): string | null;
  load: EventStore['load'];
  giveUpAfterMs: number;
  runtime: Runtime;
  signal: AbortSignal;
}): EventStore['append'] {
  const { attempt, attemptMs, whyAway, load, giveUpAfterMs, runtime, signal } = dependencies;
  return async (streamName, events, expected, known) => {
    const append = encodeAppend({ streamName, events, expected, known }, attemptMs);
    const away = whyAway();
    if (away) throw new EventStoreUnavailable(away);
    try {
      return await send(append);
    } catch (error) {
      if (isDefinite(error)) throw error;
      return await findOutOrSendAgain(append, error);
    }
  };

  async function send(append: EncodedAppend): Promise<Appended> {
    const { revision, position, epoch } = await attempt(append);
    if (position) return { revision, position, epoch };
    const stored = await findStored(append); // a repeat may be confirmed without saying where it was stored
    if (!stored) throw new EventStoreUnavailable(`Stream ${append.streamName} lacks events it has confirmed`);
    return stored;
  }

  async function findOutOrSendAgain(append: EncodedAppend, unknown: unknown): Promise<Appended> {
    try {
      return await retry(async () => (await findStored(append)) ?? (await sendAgain(append)), {
        runtime,
        signal,
        giveUpAfterMs,
        shouldRetry: (error) => !isDefinite(error) && !whyAway(),
      });
    } catch (error) {
      if (isDefinite(error)) throw error;
      const message = `Cannot tell whether stream ${append.streamName} took an append: ${describe(unknown)}`;
      throw new EventStoreUnavailable(message, { cause: error });
    }
  }

  /** A wrong revision may now be due to our own first attempt, which arrived late. */
  async function sendAgain(append: EncodedAppend): Promise<Appended> {
    try {
      return await send(append);
    } catch (error) {
      const stored = error instanceof WrongExpectedRevision && (await findStored(append));
      if (stored) return stored;
      throw error;
    }
  }

  /** Where the events are stored; null if they are not. Throws WrongExpectedRevision when other events are there. */
  async function findStored({ streamName, events, expected }: EncodedAppend): Promise<Appended | null> {
    const found = await load(streamName, expected === 'no_stream' ? 0 : expected + 1);
    const head = found.at(-1);
    if (!head) return null;
    const last = found[events.length - 1];
    const isOurs = events.every(({ id }, index) => found[index]?.id === id.toLowerCase());
    if (!isOurs || !last) throw new WrongExpectedRevision(streamName, expected, head.revision);
    return { revision: last.revision, position: last.position, epoch: last.epoch };
  }
}
