/**
 * Seals the log every so often: counts every event into a running hash and signs how far it has come. It goes on from
 * the last seal, and counts what that one covers once more first: a log that no longer agrees with it is not sealed.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { chain, genesisHash } from '../../events/envelope.ts';
import {
  countIn,
  isCovered,
  type LogSealed,
  type LogSealedEvent,
  sealsStream,
  signedText,
  type Tally,
} from '../../events/seals.ts';
import { streamPrefixes } from '../../events/streams.ts';
import type { EventStore, RecordedEvent } from '../../eventstore/event-store.ts';
import { withLeaderLock } from '../../postgres/leader-lock.ts';
import type { SealKey } from './key.ts';
import { disagreement, lastSealed, type Sealed, Unaccountable } from './last-seal.ts';

type Dependencies = {
  eventStore: Pick<EventStore, 'append' | 'load' | 'loadLast' | 'subscribe'>;
  /** The lock of the leader needs a connection of its own. */
  databaseUrl: string;
  key: SealKey;
  clock: () => Date;
  log: Logger;
  /** As soon as so many events are unsealed, and after so long if any is. */
  pace?: { everyEvents: number; everyMs: number };
};

const usualPace = { everyEvents: 10_000, everyMs: 10 * 60_000 };
const firstRetryMs = 100;
const longestRetryMs = 5_000;
/** Each look is a line in the log. */
const lookAgainMs = 60_000;

/**
 * Runs until stopped; of all processes that run it, one leads and the others stand by. Outages are waited out. A log that
 * does not agree with its last seal is an error in the program's log, again every minute, and nothing is sealed.
 */
export function startSealer(dependencies: Dependencies): { stop(): Promise<void> } {
  const { databaseUrl, log } = dependencies;
  const stopping = new AbortController();
  const { signal } = stopping;
  let failures = 0;
  const onSealed = () => {
    failures = 0;
  };

  async function keepSealing(): Promise<void> {
    while (!signal.aborted) {
      try {
        await withLeaderLock({ databaseUrl, name: 'sealer', signal }, (leading) =>
          sealWhile(leading, dependencies, onSealed),
        );
      } catch (error) {
        const reason = error instanceof Error ? error.message || error.name : String(error);
        failures += 1;
        if (error instanceof Unaccountable) log.error({ reason }, 'the log is not sealed any more');
        else log.warn({ reason, failures }, 'the sealer is interrupted; it goes on from the last seal');
        const backoffMs = Math.min(firstRetryMs * 2 ** (failures - 1), longestRetryMs);
        const pauseMs = error instanceof Unaccountable ? lookAgainMs : backoffMs;
        await rest(pauseMs * (0.5 + Math.random() / 2), signal);
      }
    }
  }

  const sealing = keepSealing();
  return {
    stop() {
      stopping.abort();
      return sealing;
    },
  };
}

/** Throws Unaccountable, and whatever broke the run: WrongExpectedRevision when another process has sealed meanwhile. */
async function sealWhile(
  leading: AbortSignal,
  { eventStore, key, clock, log, pace = usualPace }: Dependencies,
  onSealed: () => void,
): Promise<void> {
  const { last, before, after } = await lastSealed(eventStore);
  if (last.seal && last.seal.publicKey !== key.publicKey)
    log.warn({ seal: last.revision }, 'the last seal was signed with another key');
  let sealed = last;
  let tally = before;
  let newest: RecordedEvent | null = null;
  let turn: Promise<void> = Promise.resolve();

  /** Seals up to the newest event, if it is not sealed. */
  const sealNow = () => {
    turn = turn.then(async () => {
      if (!newest || tally.count <= sealed.tally.count) return;
      sealed = await append(eventStore, key, clock(), sealed, { tally, newest });
      log.debug({ seal: sealed.revision, count: sealed.tally.count }, 'the log is sealed');
      onSealed();
    });
    return turn;
  };

  async function count(signal: AbortSignal): Promise<void> {
    const covered = last.seal?.streams ?? [];
    const prefixes = [...new Set([...covered, ...streamPrefixes])];
    for await (const message of eventStore.subscribe({ streamPrefixes: prefixes, after, signal })) {
      if (message.kind === 'caught_up') {
        if (tally.count < last.tally.count) throw disagreement(last);
        await sealNow();
      }
      if (message.kind !== 'event') continue;
      const recounting = tally.count < last.tally.count;
      if (!isCovered(message.event, recounting ? covered : streamPrefixes)) continue;
      newest = message.event;
      tally = countIn(tally, message.event);
      if (tally.count === last.tally.count && tally.runningHash !== last.tally.runningHash)
        throw disagreement(last);
      if (tally.count - sealed.tally.count >= pace.everyEvents) await sealNow();
    }
  }

  async function keepTime(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await rest(pace.everyMs, signal);
      if (!signal.aborted) await sealNow();
    }
  }

  const left = new AbortController();
  const signal = AbortSignal.any([leading, left.signal]);
  const both = [count(signal), keepTime(signal)].map((work) => work.finally(() => left.abort()));
  await Promise.allSettled(both);
  await Promise.all(both);
}

/** At the expected revision: whoever seals at the same time, one chain of seals comes of it. */
async function append(
  eventStore: Pick<EventStore, 'append'>,
  key: SealKey,
  now: Date,
  { revision, hash: previousSeal }: Sealed,
  { tally, newest }: { tally: Tally; newest: RecordedEvent },
): Promise<Sealed> {
  const { streamName, id, position } = newest;
  const said = {
    at: now.toISOString(),
    position: { commit: position.commit.toString(), prepare: position.prepare.toString() },
    ...tally,
    lastEvent: { stream: streamName, revision: newest.revision, id },
    streams: [...streamPrefixes],
    previousSeal,
    publicKey: key.publicKey,
  };
  const data: LogSealed = { ...said, signature: key.sign(signedText(said)) };
  const commandId = randomUUID();
  const cause = { commandId, correlationId: commandId, causationId: commandId, actor: 'sealer' };
  const event: LogSealedEvent = { type: 'LogSealed', data };
  const envelopes = chain([event], previousSeal, cause);
  const appended = await eventStore.append(sealsStream, envelopes, revision);
  const hash = envelopes[0]?.metadata.hash ?? genesisHash;
  return { seal: data, tally, revision: appended.revision, hash };
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {}); // rejects on abort
}
