/**
 * Gateway results that match no payment. One stream, the quarantine, keeps them all; each resolution by staff has a
 * stream of its own.
 */
import { boolean, enums, type Infer, integer, min, nullable, object, string } from 'superstruct';
import { type EventOf, utc } from '../kernel/structs.ts';
import { channels } from './payment-request.ts';
import { ReceivedFields, sealed } from './personal-data.ts';

export const unmatchedStream = 'gateway-unmatched';

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
export type UnmatchedReason = (typeof unmatchedReasons)[number];

export const GatewayResultUnmatched = object({
  at: utc,
  channel: enums(channels),
  verified: boolean(),
  reason: enums(unmatchedReasons),
  /** The fields as received. */
  evidence: sealed(ReceivedFields),
  /** By which the same result is recognised (commands/fingerprint.ts); null in events of version 1. */
  fingerprint: nullable(string()),
});
export type GatewayResultUnmatched = Infer<typeof GatewayResultUnmatched>;

export const quarantineEvents = { GatewayResultUnmatched };
export type QuarantineEvent = EventOf<typeof quarantineEvents>;

/** The gateway refunded it; the money reached its payment or agency in another way; or the note explains it. */
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

export type ResolvedUnmatched = Omit<UnmatchedEvent['data'], 'revision'>;

/** Null until staff resolve it. Total: the first resolution stays. */
export function evolveUnmatched(
  state: ResolvedUnmatched | null,
  { data: { revision: _, ...resolved } }: UnmatchedEvent,
): ResolvedUnmatched {
  return state ?? resolved;
}
