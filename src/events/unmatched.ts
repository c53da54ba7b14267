/** Results that belong to no payment we know. They are kept whole, in a stream of their own, for staff. */
import { boolean, enums, type Infer, object, record, string } from 'superstruct';
import { channels } from './payment.ts';
import { utc } from './structs.ts';

export const unmatchedStream = 'gateway-unmatched';

export const GatewayResultUnmatched = object({
  at: utc,
  channel: enums(channels),
  verified: boolean(),
  /**
   * Why no payment took it: there is none with this id here, or it is another merchant's; it says nothing readable; or,
   * on the land-registry channel, its agency has left the configuration.
   */
  reason: enums(['unknown_transaction', 'unreadable', 'unknown_agency']),
  raw: record(string(), string()),
});
export type GatewayResultUnmatched = Infer<typeof GatewayResultUnmatched>;
