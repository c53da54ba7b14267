/**
 * Gateway results that match no payment: the quarantine. The results that name one payment share a stream; a result that
 * names none has its own. Its resolution by staff and its erasure are in another stream.
 */
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import { personalDataErased, sealed } from '@ledger/personal-data/sealed.ts';
import { boolean, enums, type Infer, integer, min, nullable, object, string } from 'superstruct';
import { type Fold, readerOf } from './codec.ts';
import { channels } from './payment-request.ts';
import { ReceivedFields } from './personal-data.ts';

/** The one stream of all results in earlier releases, which is still read. Now the results that name one payment share a stream. */
export const unmatchedStream = 'gateway-unmatched';

/** `subject` is a fingerprint of the channel and the payment that a result names, or else of its fields. */
export const quarantineStream = (subject: string) => `${unmatchedStream}-${subject}`;

/** The id of a result in quarantine: `<revision>` in `gateway-unmatched`, `<subject>-<revision>` in another stream. */
export function unmatchedIdOf({ streamName, revision }: { streamName: string; revision: number }): string {
  return `${streamName}-${revision}`.slice(unmatchedStream.length + 1);
}

/** The stream and the revision that such an id names; null if it is none. */
export function placeOfUnmatched(id: string): { stream: string; revision: number } | null {
  const match = /^(?:([\w-]{43})-)?(0|[1-9]\d{0,8})$/.exec(id);
  if (!match) return null;
  const [, subject, revision] = match;
  return { stream: subject ? quarantineStream(subject) : unmatchedStream, revision: Number(revision) };
}

/**
 * Why a result matches no payment: there is none with its id, or it is another merchant's; the result is unreadable;
 * on the land-registry channel, its agency is no longer in the configuration; or the payment's own events cannot be
 * read, so that nothing can be decided about it.
 */
export const unmatchedReasons = [
  'unknown_transaction',
  'unreadable',
  'unknown_agency',
  'unreadable_payment',
] as const;

export const GatewayResultUnmatched = object({
  at: utc,
  channel: enums(channels),
  verified: boolean(),
  reason: enums(unmatchedReasons),
  evidence: sealed(ReceivedFields),
  /** Recognises the same result (packages/personal-data/fingerprint.ts); null in events of version 1. */
  fingerprint: nullable(string()),
});
export type GatewayResultUnmatched = Infer<typeof GatewayResultUnmatched>;

const quarantineEvents = { GatewayResultUnmatched };

/** The state is all results of the stream. */
export const quarantineFold: Fold<readonly GatewayResultUnmatched[], EventOf<typeof quarantineEvents>> = {
  prefix: unmatchedStream,
  initial: [],
  read: readerOf(quarantineEvents),
  evolve: (kept, { data }) => [...kept, data],
};

/** The gateway refunded it; the money reached its payment or agency in another way; or the note explains it. */
export const unmatchedResolutions = ['refunded', 'settled', 'explained'] as const;
export type UnmatchedResolution = (typeof unmatchedResolutions)[number];

export const unmatchedEvents = {
  UnmatchedResultResolved: object({
    at: utc,
    /** The revision of the result in its stream. */
    revision: min(integer(), 0),
    resolution: enums(unmatchedResolutions),
    note: string(),
  }),
  PersonalDataErased: personalDataErased,
};

export type UnmatchedEvent = EventOf<typeof unmatchedEvents>;

type ResolvedUnmatched = Omit<Infer<typeof unmatchedEvents.UnmatchedResultResolved>, 'revision'>;

/** How staff resolved a result, and when its content was erased. */
export type HandledUnmatched = { resolved: ResolvedUnmatched | null; erasedAt: string | null };

export const unmatchedFold: Fold<HandledUnmatched, UnmatchedEvent> = {
  prefix: 'unmatched-',
  initial: { resolved: null, erasedAt: null },
  read: readerOf(unmatchedEvents),
  /** The first resolution and the first erasure stay. */
  evolve(state, { type, data }) {
    if (type === 'PersonalDataErased') return { ...state, erasedAt: state.erasedAt ?? data.at };
    const { revision: _, ...resolved } = data;
    return { ...state, resolved: state.resolved ?? resolved };
  },
};
/** `id` as of `unmatchedIdOf`. */
export const resolutionStream = (id: string) => `${unmatchedFold.prefix}${id}`;
