/** Gateway results that match no payment: how the quarantine keeps them, and how staff resolve them. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import type { Fingerprint } from '@ledger/personal-data/fingerprint.ts';
import { holding, holdsNothing, type SealEvents } from '@ledger/personal-data/sealed.ts';
import { actorOf, type Cause } from '../events/envelope.ts';
import type { ReceivedFields } from '../events/personal-data.ts';
import {
  type GatewayResultUnmatched,
  type HandledUnmatched,
  placeOfUnmatched,
  quarantineFold,
  quarantineStream,
  resolutionStream,
  type UnmatchedEvent,
  unmatchedFold,
} from '../events/unmatched.ts';
import { type Decider, Refused } from './decider.ts';
import { createExecute, headOf } from './execute.ts';
import type { ErasePersonalData } from './payment.ts';

/** How many results of one transaction are kept in quarantine: all are read for each. A working gateway sends fewer. */
const maxPerStream = 500;

/** Decided from all results of the stream: one that is there already adds nothing. Beyond the limit it is refused. */
const quarantineDecider = {
  ...quarantineFold,
  decide(result: GatewayResultUnmatched, kept: readonly GatewayResultUnmatched[]) {
    if (kept.some(({ fingerprint }) => fingerprint === result.fingerprint)) return [];
    // What is acknowledged to the gateway must be kept.
    if (kept.length >= maxPerStream && result.reason !== 'unreadable_payment')
      return new Refused('quarantine_full', 'Too many results of this transaction are in quarantine');
    return [{ type: 'GatewayResultUnmatched' as const, data: result }];
  },
};

/** `raw` is every field as received. */
export type UnmatchedReport = Omit<GatewayResultUnmatched, 'evidence' | 'fingerprint'> & {
  raw: ReceivedFields;
};

/** The function returned stores a new result for good. Throws Refused, EventStoreUnavailable and KeysUnavailable. */
export function createQuarantine(dependencies: {
  eventStore: Pick<EventStore, 'append' | 'load'>;
  seal: SealEvents;
  fingerprint: Fingerprint;
}) {
  const { eventStore, seal, fingerprint } = dependencies;
  const execute = createExecute({ eventStore, seal, decider: quarantineDecider });
  return async ({ raw, ...report }: UnmatchedReport, cause: Cause): Promise<void> => {
    const { channel } = report;
    const content = fingerprint(raw);
    const named = Object.entries(raw).find(([name]) => name.toUpperCase() === 'TRANS_ID')?.[1] ?? '';
    const subject = fingerprint(named === '' ? { channel, content } : { channel, transactionId: named });
    const result = { ...report, evidence: { plain: raw }, fingerprint: content };
    await execute(quarantineStream(subject), result, cause);
  };
}

type Resolved = Extract<UnmatchedEvent, { type: 'UnmatchedResultResolved' }>['data'];
export type ResolveUnmatchedResult = { type: 'ResolveUnmatchedResult' } & Resolved;

/**
 * Decides about one result, in the stream of its resolution. The caller has loaded the result, and has destroyed its
 * key before recording an erasure.
 */
export const unmatchedDecider: Decider<
  HandledUnmatched,
  ResolveUnmatchedResult | ErasePersonalData,
  UnmatchedEvent
> = {
  ...unmatchedFold,
  decide(command, { resolved, erasedAt }) {
    if (command.type === 'ErasePersonalData') {
      const { at, reason, destroyed } = command;
      return erasedAt === null
        ? [{ type: 'PersonalDataErased', data: { at, reason, keys: [...destroyed] } }]
        : [];
    }
    const { type: _, ...data } = command;
    if (resolved?.resolution === data.resolution && resolved.note === data.note) return [];
    if (resolved) return new Refused('exception_resolved', 'This result is already resolved');
    return [{ type: 'UnmatchedResultResolved', data }];
  },
};

export type LoadedUnmatched = NonNullable<Awaited<ReturnType<typeof loadUnmatched>>>;

/** Null if no result has this id (`unmatchedIdOf`). Throws EventStoreUnavailable and UnreadableEvent. */
export async function loadUnmatched(id: string, eventStore: Pick<EventStore, 'load'>) {
  const place = placeOfUnmatched(id);
  const [stored] = place ? await eventStore.load(place.stream, place.revision, 1) : [];
  if (!place || !stored) return null;
  const { evidence, ...result } = quarantineFold.read(stored).data;
  const handling = await eventStore.load(resolutionStream(id));
  const head = headOf(handling, unmatchedDecider);
  const { erasedAt } = head.state;
  return {
    ...place,
    receivedAt: stored.created,
    result,
    evidence: erasedAt === null ? evidence : ({ erased: true } as const),
    personalData: erasedAt === null ? holding(holdsNothing, { evidence }) : { ...holdsNothing, erasedAt },
    head,
    /** The actor of the resolution; `''` before it. */
    resolvedBy: actorOf(handling.find(({ type }) => type === 'UnmatchedResultResolved')),
  };
}
