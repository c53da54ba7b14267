/** Checks of what is erased: that it had its age, and at the end that it is gone, and nothing else. */
import type { Erasures } from '@ledger/personal-data/key-store.ts';
import type { PersonalData } from '@ledger/personal-data/personal-data.ts';
import { type HeldKeys, isHolding, type Sealed, type SealedPlace } from '@ledger/personal-data/sealed.ts';
import { unmatchedSubject } from '../../../src/personal-data/erase.ts';
import type { Report } from '../violations.ts';
import type { LogCheck } from './log.ts';

/** An erasure that was begun is recorded within this time, whatever fails meanwhile. */
const recordedWithinMs = 60 * 60_000;
/** What is due is erased within this time in calm, in which the program looks every 12 minutes. */
const erasedWithinMs = 2 * 60 * 60_000;

/** Whether the data of a payment had their age when they were erased: `timesMs` are those of the events before. */
export function hadItsAge(timesMs: readonly number[], erasedMs: number, retentionMs: number | null): boolean {
  // What happened once the erasure had begun is erased with the rest.
  const lastMs = timesMs.findLast((atMs) => atMs < erasedMs - recordedWithinMs) ?? Number.POSITIVE_INFINITY;
  return retentionMs !== null && erasedMs - lastMs >= retentionMs;
}

type Subject = {
  subject: string;
  sealed: readonly { value: Sealed<unknown>; place: SealedPlace }[];
  held: Pick<HeldKeys, 'erasedAt'> & { isHolding: boolean };
  /** Since when they are due; null if they never are. */
  dueSinceMs: number | null;
  sealedMs: number;
};

function subjectsOf(log: LogCheck, retentionMs: number | null): Subject[] {
  const dueSince = (atMs: number) => (retentionMs === null ? null : atMs + retentionMs);
  const latest = (dueMs: number | null, atMs: number) => dueMs && Math.max(dueMs, atMs);
  const payments = [...log.payments].flatMap(([subject, { state, isUnreadable, sealed, timesMs }]) => {
    if (state.status === 'none' || isUnreadable) return [];
    const { personalData, request } = state;
    return {
      subject,
      sealed,
      held: { erasedAt: personalData.erasedAt, isHolding: isHolding(personalData) },
      dueSinceMs: dueSince(timesMs.at(-1) ?? 0),
      sealedMs: Date.parse(request.at),
    };
  });
  const results = [...log.quarantine.results].map(([id, { sealed, receivedAtMs, handled }]) => ({
    subject: unmatchedSubject(id),
    sealed: [sealed],
    held: { erasedAt: handled.erasedAt, isHolding: handled.erasedAt === null },
    // Staff need the others.
    dueSinceMs: handled.resolved && latest(dueSince(receivedAtMs), Date.parse(handled.resolved.at)),
    sealedMs: receivedAtMs,
  }));
  return [...payments, ...results];
}

/**
 * Whether what counts as erased is gone, and nothing else. Resolves to the subjects whose keys are lost. Rejects if the
 * keys cannot be read. To be called in a process that has these stores.
 */
export async function checkErased(
  {
    open,
    erasures,
    told,
  }: { open: PersonalData['open']; erasures: Erasures; told: ReadonlyMap<string, number> },
  {
    openByAny,
    outbox,
    log,
    report,
    nowMs,
    retentionMs,
    hasRestore,
    mayLoseKeys,
  }: {
    /** With every data key that there ever was. */
    openByAny: PersonalData['open'];
    /** The payments of which there are emails in files. */
    outbox: ReadonlySet<string>;
    log: LogCheck;
    report: Report;
    nowMs: number;
    retentionMs: number | null;
    hasRestore: boolean;
    mayLoseKeys: (sealedMs: number) => boolean;
  },
): Promise<ReadonlySet<string>> {
  const lost = new Set<string>();
  const begun = await erasures.begunBefore(new Date(nowMs + recordedWithinMs), { after: '', limit: 1_000 });
  const underWay = new Set(begun.map(({ subject }) => subject));
  const old = await erasures.begunBefore(new Date(nowMs - erasedWithinMs), { after: '', limit: 100 });
  for (const { subject } of old) report('not-erased', subject, 'It was begun and not completed');
  for (const { subject, sealed, held, dueSinceMs, sealedMs } of subjectsOf(log, retentionMs)) {
    const isErased = held.erasedAt !== null && !held.isHolding;
    if (told.has(subject) && !isErased)
      report('not-erased', subject, `By its events it was erased at ${held.erasedAt ?? 'no time'}`);
    if (isErased && outbox.has(subject)) report('erased-sent', subject, 'There is an email of it in a file');
    const isOverdue = dueSinceMs !== null && dueSinceMs < nowMs - erasedWithinMs;
    if (isOverdue && held.isHolding && !hasRestore)
      report('not-erased', subject, `It is due since ${new Date(dueSinceMs).toISOString()}`);
    for (const { value, place } of sealed) {
      const opened = await (isErased ? openByAny : open)(value, place);
      if (isErased && opened.kind === 'open') report('not-erased', subject, `Its ${place.field} can be read`);
      if (opened.kind === 'erased' && held.erasedAt === null && !hasRestore && !underWay.has(subject))
        report(
          'acknowledged-lost',
          subject,
          `The key of its ${place.field} is destroyed, and no event says so`,
        );
      if (opened.kind === 'unavailable') lost.add(subject);
    }
    if (lost.has(subject) && !mayLoseKeys(sealedMs))
      report('acknowledged-lost', subject, 'Its personal data cannot be read any more');
  }
  return lost;
}
