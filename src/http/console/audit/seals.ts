/** /console/seals: the seals of the log, newest first, and since when something is not sealed. */
import { isSigned } from '../../../audit/seals/key.ts';
import { readSealOrNull } from '../../../audit/seals/stored-seals.ts';
import { unsealed } from '../../../audit/seals/unsealed.ts';
import { paymentStreamPrefix } from '../../../events/payment.ts';
import { sealsStream } from '../../../events/seals.ts';
import type { RecordedEvent } from '../../../eventstore/event-store.ts';
import { readQuery } from '../frame/form.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import type { ConsoleRoute } from '../frame/route.ts';

const path = '/console/seals';
const pageSize = 50;
const lookMs = 2_000;

export function sealRoutes({ clock, eventStore, frame }: ConsoleParts): ConsoleRoute[] {
  return [
    {
      method: 'get',
      path,
      action: 'look',
      async handle(ctx) {
        const last = await eventStore.loadLast(sealsStream);
        const newest = last?.revision ?? -1;
        const upTo = Math.min(readUpTo(readQuery(ctx).up_to) ?? newest, newest);
        const from = Math.max(0, upTo - pageSize + 1);
        const seals = last ? await eventStore.load(sealsStream, from, upTo - from + 1) : [];
        await frame.show(ctx, 'audit/seals.njk', {
          title: 'Seals',
          unsealed: await unsealed(eventStore, clock(), AbortSignal.timeout(lookMs)),
          rows: seals.toReversed().map(rowOf),
          isFirstPage: upTo === newest,
          firstUrl: path,
          nextUrl: from > 0 ? `${path}?up_to=${from - 1}` : null,
        });
      },
    },
  ];
}

function readUpTo(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,9}$/.test(text)) throw new ConsoleProblem(400, 'The list has no such page');
  return Number(text);
}

/** `seal` is null, and `isWhole` false, for what is no seal any more. Whose key it is, `ledger verify` knows. */
function rowOf(stored: RecordedEvent) {
  const seal = readSealOrNull(stored);
  const stream = seal?.lastEvent.stream ?? '';
  const transactionId = stream.startsWith(paymentStreamPrefix)
    ? stream.slice(paymentStreamPrefix.length)
    : null;
  return { revision: stored.revision, seal, transactionId, isWhole: seal !== null && isSigned(seal) };
}
