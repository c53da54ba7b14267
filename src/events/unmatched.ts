/** Results that belong to no payment we know. They are kept whole, in a stream of their own, for staff. */
import { boolean, enums, type Infer, object, record, string } from 'superstruct';
import { channels } from './payment.ts';
import { utc } from './structs.ts';

export const unmatchedStream = 'gateway-unmatched';

export const GatewayResultUnmatched = object({
  at: utc,
  channel: enums(channels),
  verified: boolean(),
  /** Why no payment took it: there is none with this id here, it is another merchant's, or it says nothing readable. */
  reason: enums(['unknown_transaction', 'unreadable']),
  raw: record(string(), string()),
});
export type GatewayResultUnmatched = Infer<typeof GatewayResultUnmatched>;
