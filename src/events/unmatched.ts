/**
 * Results that belong to no payment we know. They are kept whole, in a stream of their own, for staff; what staff say of
 * one is in a stream beside it.
 */
import { boolean, enums, type Infer, integer, min, object, record, string } from 'superstruct';
import { type EventOf, utc } from '../kernel/structs.ts';
import { channels } from './payment.ts';

export const unmatchedStream = 'gateway-unmatched';

/**
 * Why no payment took a result: there is none with this id here, or it is another merchant's; it says nothing readable;
 * or, on the land-registry channel, its agency has left the configuration.
 */
export const unmatchedReasons = ['unknown_transaction', 'unreadable', 'unknown_agency'] as const;
export type UnmatchedReason = (typeof unmatchedReasons)[number];

export const GatewayResultUnmatched = object({
  at: utc,
  channel: enums(channels),
  verified: boolean(),
  reason: enums(unmatchedReasons),
  raw: record(string(), string()),
});
export type GatewayResultUnmatched = Infer<typeof GatewayResultUnmatched>;

export const quarantineEvents = { GatewayResultUnmatched };
export type QuarantineEvent = EventOf<typeof quarantineEvents>;

/**
 * What staff found of a result that no payment took: the gateway paid the money back; what it reports reached its payment
 * or its agency in another way; or neither, since the note explains it.
 */
export const unmatchedResolutions = ['refunded', 'settled', 'explained'] as const;
export type UnmatchedResolution = (typeof unmatchedResolutions)[number];

export const unmatchedEvents = {
  UnmatchedResultResolved: object({
    at: utc,
    /** Of the result in `gateway-unmatched`. */
    revision: min(integer(), 0),
    resolution: enums(unmatchedResolutions),
    note: string(),
  }),
};

export type UnmatchedEvent = EventOf<typeof unmatchedEvents>;

export const unmatchedStreamPrefix = 'unmatched-';
export const resolutionStream = (revision: number) => `${unmatchedStreamPrefix}${revision}`;

/** What was said of one unmatched result. */
export type ResolvedUnmatched = Omit<UnmatchedEvent['data'], 'revision'>;

/** Null while nobody said anything. Total: what was said first stays. */
export function evolveUnmatched(
  state: ResolvedUnmatched | null,
  { data: { revision: _, ...resolved } }: UnmatchedEvent,
): ResolvedUnmatched {
  return state ?? resolved;
}
