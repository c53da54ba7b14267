/**
 * Seals the log at intervals: adds every event to a running hash, and signs how far it has come. It begins by
 * recounting what the last seal covers: a log that no longer agrees with that seal is not sealed.
 */
import type { Logger } from 'pino';
import { chain, genesisHash } from '../../events/envelope.ts';
import {
  countIn,
  emptyTally,
  isCovered,
  type LogSealed,
  type LogSealedEvent,
  sealsStream,
  signedText,
  type Tally,
} from '../../events/seals.ts';
import { streamPrefixes } from '../../events/streams.ts';
import type { EventStore, RecordedEvent } from '../../eventstore/event-store.ts';
import { reasonOf } from '../../kernel/reason-of.ts';
import { retry } from '../../kernel/retry.ts';
import { type Background, runUntilStopped } from '../../kernel/run-until-stopped.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { withLeaderLock } from '../../postgres/leader-lock.ts';
import type { SealKey } from './key.ts';
import { disagreement, type LastSeal, loadLastSeal, Unaccountable } from './stored-seals.ts';

type Dependencies = {
  eventStore: Pick<EventStore, 'append' | 'load' | 'loadLast' | 'subscribe'>;
  /** The leader lock needs a connection of its own. */
  databaseUrl: string;
  key: SealKey;
  runtime: Runtime;
  log: Logger;
  /** Seals after this many events, and after this time if there are any unsealed events. */
  pace?: { everyEvents: number; everyMs: number };
};

const usualPace = { everyEvents: 10_000, everyMs: 10 * 60_000 };
/** After so many failures to read in a row the lead is given up: another process may reach the log. */
const maxFailures = 4;
/** Each time is a line in the program's log. */
const lookAgainMs = 60_000;

/**
 * Runs until stopped. Of all processes that run it, one leads and the others stand by. Outages are waited out. While the
 * log does not agree with its last seal, nothing is sealed, and every minute an error is logged.
 */
export function startSealer(dependencies: Dependencies): Background {
  return runUntilStopped((signal) => keepSealing(dependencies, signal));
}

async function keepSealing(dependencies: Dependencies, signal: AbortSignal): Promise<void> {
  const { databaseUrl, runtime, log } = dependencies;
  while (!signal.aborted) {
    try {
      await retry(
        (onProgress) =>
          withLeaderLock({ databaseUrl, name: 'sealer', runtime, signal }, (leading) =>
            sealWhile(leading, dependencies, onProgress),
          ),
        {
          runtime,
          signal,
          shouldRetry: (error) => !(error instanceof Unaccountable),
          onFailure: (error, failures) =>
            log.warn({ reason: reasonOf(error), failures }, 'the sealer was interrupted and will retry'),
        },
      );
    } catch (error) {
      if (signal.aborted) return;
      log.error({ reason: reasonOf(error) }, 'the log is not sealed any more');
      await runtime.sleep(lookAgainMs, signal);
    }
  }
}

/** Throws Unaccountable, and what ended the run: WrongExpectedRevision when another process has sealed meanwhile. */
async function sealWhile(
  leading: AbortSignal,
  dependencies: Dependencies,
  onSealed: () => void,
): Promise<void> {
  const { eventStore, key, runtime, log, pace = usualPace } = dependencies;
  const { last, before, after } = await loadLastSeal(eventStore);
  if (last.seal && last.seal.publicKey !== key.publicKey)
    log.warn({ seal: last.revision }, 'the last seal was signed with another key');
  const recounted: Tally = last.seal ?? emptyTally;
  let sealed = last;
  let tally = before;
  let newest: RecordedEvent | null = null;
  let turn: Promise<void> = Promise.resolve();

  /** Seals up to the newest event, if it is not sealed. */
  const sealNow = () => {
    turn = turn.then(async () => {
      if (!newest || tally.count <= (sealed.seal ?? emptyTally).count) return;
      sealed = await append(dependencies, sealed, tally, newest);
      log.debug({ seal: sealed.revision, count: sealed.seal?.count }, 'the log is sealed');
      onSealed();
    });
    return turn;
  };

  async function count(signal: AbortSignal): Promise<void> {
    const covered = last.seal?.streams ?? [];
    const prefixes = [...new Set([...covered, ...streamPrefixes])];
    const reading = { streamPrefixes: prefixes, after, signal, maxFailures };
    for await (const message of eventStore.subscribe(reading)) {
      if (message.kind === 'caught_up') {
        if (tally.count < recounted.count) throw disagreement(last);
        await sealNow();
      }
      if (message.kind !== 'event') continue;
      const isRecounting = tally.count < recounted.count;
      if (!isCovered(message.event, isRecounting ? covered : streamPrefixes)) continue;
      newest = message.event;
      tally = countIn(tally, message.event);
      if (tally.count === recounted.count && tally.runningHash !== recounted.runningHash)
        throw disagreement(last);
      if (tally.count - (sealed.seal ?? emptyTally).count >= pace.everyEvents) await sealNow();
    }
  }

  async function keepTime(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await runtime.sleep(pace.everyMs, signal);
      if (!signal.aborted) await sealNow();
    }
  }

  const ended = new AbortController();
  const signal = AbortSignal.any([leading, ended.signal]);
  const both = [count(signal), keepTime(signal)].map((work) => work.finally(() => ended.abort()));
  await Promise.allSettled(both);
  await Promise.all(both);
}

/** Appends at the expected revision, so that there is one chain of seals even when two processes seal at once. */
async function append(
  { eventStore, key, runtime }: Dependencies,
  { revision, hash: previousSeal }: LastSeal,
  tally: Tally,
  { streamName, revision: lastRevision, id, position }: RecordedEvent,
): Promise<LastSeal> {
  const unsigned = {
    at: runtime.now().toISOString(),
    position: { commit: position.commit.toString(), prepare: position.prepare.toString() },
    ...tally,
    lastEvent: { stream: streamName, revision: lastRevision, id },
    streams: [...streamPrefixes],
    previousSeal,
    publicKey: key.publicKey,
  };
  const seal: LogSealed = { ...unsigned, signature: key.sign(signedText(unsigned)) };
  const commandId = runtime.uuid();
  const cause = { commandId, correlationId: commandId, causationId: commandId, actor: 'sealer' };
  const envelopes = chain<LogSealedEvent>([{ type: 'LogSealed', data: seal }], previousSeal, cause);
  const appended = await eventStore.append(sealsStream, envelopes, revision);
  return { seal, revision: appended.revision, hash: envelopes[0]?.metadata.hash ?? genesisHash };
}
