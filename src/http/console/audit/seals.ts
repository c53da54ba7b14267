/** GET /console/seals: the seals of the log, newest first, and how long events have been waiting for one. */
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import { cosignersOf } from '@ledger/transparency-log/note.ts';
import { unsealed } from '../../../audit/seals/sealing-status.ts';
import { readSignedSeal } from '../../../audit/seals/stored-seals.ts';
import { paymentStreamPrefix } from '../../../events/payment.ts';
import { sealsStream } from '../../../events/seals.ts';
import { noSuchPage, readQuery } from '../frame/forms-and-lists.ts';
import type { Page } from '../frame/page.ts';

const path = '/console/seals';
const size = 50;
const answerWithinMs = 2_000;

export const showSeals: Page = async (ctx, { db, eventStore, runtime, show }) => {
  const { up_to: asked } = readQuery(ctx);
  if (asked !== undefined && !/^\d{1,9}$/.test(asked)) throw noSuchPage();
  const last = await eventStore.loadLast(sealsStream);
  const newest = last?.revision ?? -1;
  const upTo = Math.min(asked === undefined ? newest : Number(asked), newest);
  const from = Math.max(0, upTo - size + 1);
  const seals = last ? await eventStore.load(sealsStream, from, upTo - from + 1) : [];
  const rows = seals.toReversed().map(rowOf);
  const [first, ...earlier] = rows;
  const isLast = first?.revision === newest;
  await show(ctx, 'audit/seals.njk', {
    missing: isLast ? witnessesOf(earlier).filter((name) => !first.witnesses.includes(name)) : [],
    hasWitnesses: witnessesOf(rows).length > 0,
    unsealed: await unsealed(eventStore, db, { now: runtime.now(), signal: runtime.timeout(answerWithinMs) }),
    rows,
    firstUrl: upTo === newest ? null : path,
    nextUrl: from > 0 ? `${path}?up_to=${from - 1}` : null,
  });
};

/** `seal` is null if the event is no longer a valid seal. Only `ledger verify` checks whose keys signed it. */
function rowOf(stored: RecordedEvent) {
  const seal = readSignedSeal(stored);
  const stream = seal?.lastEvent.stream ?? '';
  const transactionId = stream.startsWith(paymentStreamPrefix)
    ? stream.slice(paymentStreamPrefix.length)
    : null;
  const witnesses = cosignersOf(seal?.checkpoint?.note ?? '');
  return { revision: stored.revision, seal, transactionId, witnesses };
}

/** By name, in no particular order. */
const witnessesOf = (rows: readonly { witnesses: string[] }[]) => [
  ...new Set(rows.flatMap(({ witnesses }) => witnesses)),
];
