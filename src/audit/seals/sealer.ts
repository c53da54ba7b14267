/**
 * Seals the log at intervals: adds every event to a Merkle tree, and signs a checkpoint of how far it has come. It begins
 * by recounting what the last seal covers, and never signs what does not continue a checkpoint that was signed before.
 */
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { retry } from '@ledger/kernel/retry.ts';
import { type Background, runUntilStopped } from '@ledger/kernel/run-until-stopped.ts';
import { warnSeldom } from '@ledger/kernel/warn-seldom.ts';
import { briefReasonOf } from '@ledger/postgres/error-codes.ts';
import type { LeaderElection } from '@ledger/postgres/leader-election.ts';
import type { Stores } from '@ledger/projections/runtime/stores.ts';
import { checkpointText, signatureLine } from '@ledger/transparency-log/note.ts';
import type { Offer } from '@ledger/transparency-log/offer-to-witnesses.ts';
import { type Range, rootOf } from '@ledger/transparency-log/tree.ts';
import { chain, hashIn, ownCause } from '../../events/envelope.ts';
import { type CheckpointSigned, type LogSealedEvent, sealsStream, signedText } from '../../events/seals.ts';
import { streamPrefixes } from '../../events/streams.ts';
import type { LastSeal } from './find-seals.ts';
import type { KeptCheckpoints } from './kept-checkpoints.ts';
import { proveSince } from './leaves.ts';
import { beginRecount, recountRunningHash } from './recount.ts';
import { readSignedSeal, Unaccountable } from './stored-seals.ts';
import { type SealKeys, signersAfter } from './succession.ts';

type Reads = 'append' | 'load' | 'loadLast' | 'subscribe';
type Dependencies = Pick<Stores<Reads>, 'eventStore' | 'log' | 'runtime'> & {
  election: LeaderElection;
  kept: KeptCheckpoints;
  /** The name of the log in its checkpoints, unless earlier ones have another. */
  origin: string;
  /** May change while it runs; then the previous key hands over in the next seal. */
  keys: () => SealKeys;
  /** Has witnesses sign each checkpoint; resolves to their lines. */
  offer?: Offer;
  /** Seals after this many events, and after this time if there are any unsealed events. */
  pace?: { everyEvents: number; everyMs: number };
};

const usualPace = { everyEvents: 10_000, everyMs: 10 * 60_000 };
/** After this many failed reads in a row, the process gives up leading: another one may reach the log. */
const maxFailures = 4;
/** How often it checks whether sealing can continue; each time that it cannot, it logs an error. */
const lookAgainMs = 60_000;

/**
 * Runs until stopped. Of all processes that run it, one leads and the others stand by. Outages are waited out. While the
 * log does not agree with its last seal, nothing is sealed, and every minute an error is logged.
 */
export function startSealer(dependencies: Dependencies): Background {
  return runUntilStopped((signal) => keepSealing(dependencies, signal));
}

async function keepSealing(dependencies: Dependencies, signal: AbortSignal): Promise<void> {
  const { kept, election, runtime, log } = dependencies;
  const warn = warnSeldom(log, runtime);
  while (!signal.aborted) {
    try {
      await retry(
        (onProgress) =>
          election.lead('sealer', { signal }, (leading) => sealWhile(leading, dependencies, onProgress)),
        {
          runtime,
          signal,
          shouldRetry: (error) => !(error instanceof Unaccountable),
          onFailure: (error, failures) =>
            warn({ reason: briefReasonOf(error), failures }, 'the sealer was interrupted and will retry'),
        },
      );
    } catch (error) {
      if (signal.aborted) return;
      const reason = reasonOf(error);
      log.error({ reason }, 'the log is not sealed any more');
      await kept.refuse(reason).catch(() => {}); // it is in the log, and said again in a minute
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
  const { eventStore, keys, kept, runtime, log, pace = usualPace } = dependencies;
  const { after, last, streams, tree, ...recount } = await beginRecount(eventStore, kept);
  await signersAfter(last, keys(), eventStore);
  await recountRunningHash(last, eventStore, { signal: leading, maxFailures });
  if (tree.size() === 0) log.info({}, 'the tree of the log is made from its first event');
  const origin = recount.origin ?? dependencies.origin;
  let sealed = last;
  let newest: RecordedEvent | null = null;
  /** The leaves since the last seal, for witnesses. */
  let leaves: Buffer[] = [];
  let turn: Promise<void> = Promise.resolve();

  /** Seals up to the newest event, if it is not sealed. */
  const sealNow = () => {
    turn = turn.then(async () => {
      if (!newest || !tree.isRecounted() || tree.size() <= sizeOf(sealed)) return;
      const sealing = { origin, range: tree.range(), lastEvent: newest, leaves, signal: leading };
      leaves = [];
      sealed = await append(dependencies, sealed, sealing);
      log.debug({ seal: sealed.revision, count: sealing.range.size }, 'the log is sealed');
      onSealed();
    });
    return turn;
  };

  async function count(signal: AbortSignal): Promise<void> {
    const reading = { streamPrefixes: streams, after, signal, maxFailures };
    for await (const message of eventStore.subscribe(reading)) {
      if (message.kind === 'caught_up') {
        tree.assertRecounted();
        await kept.refuse(null);
        await sealNow();
      }
      if (message.kind !== 'event') continue;
      const leaf = tree.add(message.event);
      if (!leaf) continue;
      newest = message.event;
      if (dependencies.offer && tree.size() > sizeOf(last)) leaves.push(leaf);
      if (tree.size() - sizeOf(sealed) >= pace.everyEvents) await sealNow();
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

/** How many events its tree has; 0 before the first tree. */
const sizeOf = ({ seal }: LastSeal): number => seal?.checkpoint?.size ?? 0;

/**
 * Keeps the checkpoint outside the event store before it appends it, at the expected revision, so that there is one chain
 * of seals even when two processes seal at once. The signal ends what is read for a witness: the seal is made without it.
 */
async function append(
  { eventStore, kept, keys, log, offer, runtime }: Dependencies,
  last: LastSeal,
  sealing: { origin: string; range: Range; lastEvent: RecordedEvent } & Parameters<typeof proveSince>[2],
): Promise<LastSeal> {
  const { origin, range, lastEvent, ...since } = sealing;
  const { key, before } = await signersAfter(last, keys(), eventStore);
  const text = checkpointText({ origin, size: range.size, root: rootOf(range) });
  const signed = `${text}\n${signatureLine(text, origin, key)}`;
  await kept.keep(signed);
  const note = signed + ((await offer?.(signed, (size) => proveSince(eventStore, size, since))) ?? '');
  const { streamName: stream, revision: lastRevision, id } = lastEvent;
  const content = {
    at: runtime.now().toISOString(),
    checkpoint: note,
    range: range.roots.map((each) => each.toString('base64')),
    lastEvent: { stream, revision: lastRevision, id },
    streams: [...streamPrefixes],
    publicKey: key.publicKey,
  };
  const handOver = before && { publicKey: before.publicKey, signature: before.sign(signedText(content)) };
  const unsigned = { ...content, ...(handOver && { handOver }) };
  const data: CheckpointSigned = { ...unsigned, signature: key.sign(signedText(unsigned)) };
  const cause = ownCause(runtime.uuid(), 'sealer');
  const envelopes = chain<LogSealedEvent>([{ type: 'CheckpointSigned', data }], last.hash, cause);
  const { revision } = await eventStore.append(sealsStream, envelopes, last.revision);
  if (key.publicKey !== (last.seal?.publicKey ?? key.publicKey))
    log.warn({ seal: revision, isHandedOver: before !== null }, 'another key seals from now on');
  const [envelope] = envelopes;
  return { seal: envelope ? readSignedSeal(envelope) : null, revision, hash: hashIn(envelope) };
}
