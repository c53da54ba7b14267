/** The first part of `ledger verify`: the seals, and the log by its chains and by them. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { lackOfWitnesses } from '@ledger/transparency-log/note.ts';
import { sealsStream } from '../../events/seals.ts';
import { lastEventOf, readLastSeal } from '../seals/find-seals.ts';
import { sealedWithinMs } from '../seals/sealing-status.ts';
import { readSignedSeal, Unaccountable } from '../seals/stored-seals.ts';
import { loadAcknowledgements } from './acknowledgements.ts';
import { type LogResult, type VerifiedUntil, verifyLog } from './log.ts';
import { reachedMs } from './recorded-times.ts';
import type { VerifiedSoFar } from './resume.ts';
import { type SealMark, verifySeals } from './seals.ts';
import type { Verification } from './verification.ts';
import { createViolations } from './violations.ts';

/**
 * Verifies from the first event, from `since`, or from where an interrupted run has verified the log; `from` is null for
 * the first event. Not `isComplete` if only a part can be read, so that nothing can be said about what is made from it.
 */
export async function verifySealedLog(verification: Verification) {
  const { eventStore, onProgress, progress, report, runtime, signal, since, trusted } = verification;
  const { checked, notes, violations } = report;
  const { keys, marks } = await verifySeals(eventStore, trusted, violations);
  await verifyWitnesses(verification);

  const saved = since ? null : (progress?.load(trusted) ?? null);
  const start = since ? { size: since.size, root: since.root.toString('hex') } : saved?.log;
  const mark = start && marks.findLast(({ count, isTree }) => isTree && count <= start.size);
  // An earlier seal will do for `since` alone: the tree that leads from it to that checkpoint proves it.
  const isProven = mark?.count === start?.size ? mark?.hash === start?.root : Boolean(since);
  const from = mark && isProven ? await verifiedUntil(mark, eventStore) : null;
  const isResumed = saved !== null && (from !== null || !saved.log);
  const anew = {
    startedAt: runtime.now().toISOString(),
    trusted: JSON.stringify(trusted),
    log: null,
    rows: {},
  };
  const soFar: VerifiedSoFar = isResumed ? saved : anew;
  const counts = soFar.log;

  // Only violations of the log: they are kept with the progress, while every run verifies the seals.
  const found = createViolations();
  const acknowledgements = await loadAcknowledgements(eventStore, keys, found);
  const { explained } = acknowledgements;
  found.addAll(counts?.violations ?? []);
  if (counts) explained.splice(0, explained.length, ...counts.explained);
  const sealed = marks.at(-1)?.count ?? 0;
  const log = await verifyLog({
    eventStore,
    acknowledgements,
    marks,
    from: from && { ...from, counts },
    since: since ?? null,
    violations: found,
    signal,
    onProgress(done) {
      const share = since || sealed === 0 ? null : Math.min(1, done / sealed);
      onProgress({ step: 'events of the log', done, share });
    },
    onSealed: ({ count: size, hash: root }, counted) =>
      progress?.save(() => {
        soFar.log = { size, root, ...counted, violations: found.all(), explained: [...explained] };
        return soFar;
      }),
  });
  violations.addAll(found.all());
  checked.push(
    { what: 'events, each with its hash and its place in its stream', count: log.events },
    { what: 'streams, each without gaps', count: log.streams },
    { what: 'seals, each with its signature and what it counted', count: log.seals.met() },
  );
  noteUnsealed(log, verification);
  const done = `the first ${counts?.events ?? 0} events and the rows of ${Object.keys(soFar.rows).length} read models`;
  if (isResumed)
    notes.push(`A run that began at ${soFar.startedAt} and was interrupted had verified ${done}.`);
  return { acknowledgements, from, isComplete: log.complete, soFar };
}

async function verifyWitnesses({ eventStore, report, witnesses }: Verification): Promise<void> {
  if (!witnesses) return;
  const last = await readLastSeal(eventStore);
  const lack = lackOfWitnesses(last?.checkpoint?.note ?? '', witnesses);
  if (lack !== null) report.violations.add('witnesses', lack);
}

/** Null if the log lacks the seal's last event, as it then reports when it is read. */
async function verifiedUntil(
  mark: SealMark,
  eventStore: Pick<EventStore, 'load'>,
): Promise<VerifiedUntil | null> {
  const [stored] = await eventStore.load(sealsStream, mark.revision, 1);
  const range = stored && readSignedSeal(stored)?.checkpoint?.range;
  if (!range) return null;
  const last = await lastEventOf(mark, eventStore).catch((error) => {
    if (error instanceof Unaccountable) return null;
    throw error;
  });
  return last && { mark, range, after: last.position, reachedMs: reachedMs(mark, last), counts: null };
}

function noteUnsealed({ early, seals }: LogResult, { report, runtime, trusted }: Verification): void {
  const { notes, violations } = report;
  const { events, since } = seals.unsealed();
  const uncovered = seals.uncovered();
  if (since && runtime.now().getTime() - since.getTime() > sealedWithinMs)
    violations.add('unsealed events', `The ${events} events since ${since.toISOString()} are not sealed`);
  if (!trusted) notes.push('No public key was given: whose key signed the seals was not checked.');
  if (events > 0) notes.push(`${events} events are not sealed yet: only their chains protect them.`);
  if (early.count > 0)
    notes.push(
      `${early.count} events say that they were recorded more than an hour before events that had been sealed before them, the first of them ${early.first}: a clock was wrong, or somebody appended them with an earlier time.`,
    );
  if (uncovered > 0)
    notes.push(
      `${uncovered} events are of streams that their sealer did not know: only their chains protect them.`,
    );
}
