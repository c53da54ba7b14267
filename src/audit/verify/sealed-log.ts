/** The first part of `ledger verify`: the seals, and the log by its chains and by them. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { lackOfWitnesses } from '@ledger/transparency-log/note.ts';
import { sealsStream } from '../../events/seals.ts';
import { lastEventOf } from '../seals/find-seals.ts';
import { sealedWithinMs } from '../seals/sealing-status.ts';
import { readSignedSeal } from '../seals/stored-seals.ts';
import { type Acknowledgements, loadAcknowledgements } from './acknowledgements.ts';
import { type LogResult, type VerifiedUntil, verifyLog } from './log.ts';
import type { VerifiedSoFar } from './resume.ts';
import { type SealMark, verifySeals } from './seals.ts';
import type { Verification } from './verification.ts';
import { createViolations, type Violations } from './violations.ts';

type SealedLog = {
  acknowledgements: Acknowledgements;
  /** Where the log was verified from; null from its first event. */
  from: VerifiedUntil | null;
  /** False if only a part of the log could be read, so that nothing can be said about what is made from it. */
  isComplete: boolean;
  soFar: VerifiedSoFar;
};

/** Verifies from the first event, from `since`, or from where an interrupted run has verified the log. */
export async function verifySealedLog(verification: Verification): Promise<SealedLog> {
  const { eventStore, progress, report, runtime, since, trusted } = verification;
  const { checked, notes, violations } = report;
  const { keys, marks } = await verifySeals(eventStore, trusted, violations);
  await verifyWitnesses(verification);

  const saved = since ? null : (progress?.load(trusted) ?? null);
  const start = since ? { size: since.size, root: since.root.toString('hex') } : saved?.log;
  const from = start ? await findVerified(start, marks, eventStore) : null;
  const isResumed = saved !== null && (from !== null || !saved.log);
  const soFar: VerifiedSoFar = isResumed
    ? saved
    : { startedAt: runtime.now().toISOString(), trusted: JSON.stringify(trusted), log: null, rows: {} };
  const resumed = { events: soFar.log?.events ?? 0, models: Object.keys(soFar.rows).length };

  // Those of the log are kept with the progress: the seals are verified by every run.
  const found = createViolations();
  const acknowledgements = await loadAcknowledgements(eventStore, keys, found);
  if (since && !from) {
    const what = `It has no seal of the checkpoint of ${since.size} events from which it was to be verified`;
    found.add('the log', what);
  }
  const log = await verifyEvents(verification, { acknowledgements, from, marks, soFar, found });
  violations.addAll(found.all());
  checked.push(
    { what: 'events, each with its hash and its place in its stream', count: log.events },
    { what: 'streams, each without gaps', count: log.streams },
    { what: 'seals, each with its signature and what it counted', count: log.seals.met() },
  );
  noteUnsealed(log, verification);
  if (isResumed) {
    const done = `the first ${resumed.events} events and the rows of ${resumed.models} read models`;
    notes.push(`A run that began at ${soFar.startedAt} and was interrupted had verified ${done}.`);
  }
  return { acknowledgements, from, isComplete: log.complete, soFar };
}

async function verifyWitnesses({ eventStore, report, witnesses }: Verification): Promise<void> {
  if (!witnesses) return;
  const last = await eventStore.loadLast(sealsStream);
  const lack = lackOfWitnesses((last && readSignedSeal(last)?.checkpoint?.note) ?? '', witnesses);
  if (lack !== null) report.violations.add('witnesses', lack);
}

/** Goes on from what `soFar` has, and keeps in it what has been verified up to each seal. */
async function verifyEvents(
  { eventStore, onProgress, progress, signal, since }: Verification,
  given: Omit<SealedLog, 'isComplete'> & { found: Violations; marks: readonly SealMark[] },
): Promise<LogResult> {
  const { acknowledgements, found, from, marks, soFar } = given;
  const { explained } = acknowledgements;
  const counts = soFar.log;
  found.addAll(counts?.violations ?? []);
  if (counts) explained.splice(0, explained.length, ...counts.explained);
  const sealed = marks.at(-1)?.count ?? 0;
  return await verifyLog({
    eventStore,
    acknowledgements,
    marks,
    from: from && { ...from, counts },
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
}

/** The seal of a checkpoint; null if the log has none. */
async function findVerified(
  { size, root }: { size: number; root: string },
  marks: readonly SealMark[],
  eventStore: Pick<EventStore, 'load'>,
): Promise<VerifiedUntil | null> {
  const mark = marks.find(({ isTree, count, hash }) => isTree && count === size && hash === root);
  const [stored] = mark ? await eventStore.load(sealsStream, mark.revision, 1) : [];
  const range = stored && readSignedSeal(stored)?.checkpoint?.range;
  if (!mark || !range) return null;
  return { mark, range, after: (await lastEventOf(mark, eventStore)).position, counts: null };
}

function noteUnsealed({ seals }: LogResult, { report, runtime, trusted }: Verification): void {
  const { notes, violations } = report;
  const { events, since } = seals.unsealed();
  const uncovered = seals.uncovered();
  if (since && runtime.now().getTime() - since.getTime() > sealedWithinMs)
    violations.add('unsealed events', `The ${events} events since ${since.toISOString()} are not sealed`);
  if (!trusted) notes.push('No public key was given: whose key signed the seals was not checked.');
  if (events > 0) notes.push(`${events} events are not sealed yet: only their chains protect them.`);
  if (uncovered > 0)
    notes.push(
      `${uncovered} events are of streams that their sealer did not know: only their chains protect them.`,
    );
}
