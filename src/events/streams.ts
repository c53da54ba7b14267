/**
 * Every kind of stream that the ledger writes, and how its events are read. Seals and `ledger verify` use this list: a
 * stream that is missing here is neither sealed nor verified. The stream of seals is not in it, because seals do not
 * cover seals.
 */
import { acknowledgementsStream } from './acknowledgements.ts';
import {
  readAcknowledgement,
  readKeyFingerprintEvent,
  readMerchantEvent,
  readPasskeyUse,
  readPaymentEvent,
  readProjectEvent,
  readRebuildEvent,
  readReconciliationEvent,
  readSessionEvent,
  readSettlementEvent,
  readSharedNumberEvent,
  readUnmatchedEvent,
  readUnmatchedResult,
  readUserEvent,
} from './codec.ts';
import { keyFingerprintStreamPrefix } from './key-fingerprint.ts';
import { merchantStreamPrefix } from './merchant.ts';
import { passkeyUseStreamPrefix } from './passkeys.ts';
import { paymentStreamPrefix } from './payment.ts';
import { projectStreamPrefix } from './project.ts';
import { projectionStreamPrefix } from './rebuild.ts';
import { reconciliationStreamPrefix } from './reconciliation.ts';
import { sessionStreamPrefix } from './session.ts';
import { settlementStreamPrefix } from './settlement.ts';
import { sharedNumberStreamPrefix } from './shared-number.ts';
import { unmatchedStream, unmatchedStreamPrefix } from './unmatched.ts';
import { userStreamPrefix } from './user.ts';

type StreamKind = {
  /** The stream names begin with it; no prefix begins with another. */
  prefix: string;
  /** Throws UnreadableEvent, also on an event of another kind of stream. */
  read(stored: { type: string; data: unknown; metadata: unknown }): unknown;
};

export const streamKinds: readonly StreamKind[] = [
  { prefix: paymentStreamPrefix, read: readPaymentEvent },
  { prefix: unmatchedStream, read: readUnmatchedResult },
  { prefix: unmatchedStreamPrefix, read: readUnmatchedEvent },
  { prefix: userStreamPrefix, read: readUserEvent },
  { prefix: passkeyUseStreamPrefix, read: readPasskeyUse },
  { prefix: projectStreamPrefix, read: readProjectEvent },
  { prefix: reconciliationStreamPrefix, read: readReconciliationEvent },
  { prefix: settlementStreamPrefix, read: readSettlementEvent },
  { prefix: sharedNumberStreamPrefix, read: readSharedNumberEvent },
  { prefix: sessionStreamPrefix, read: readSessionEvent },
  { prefix: merchantStreamPrefix, read: readMerchantEvent },
  { prefix: projectionStreamPrefix, read: readRebuildEvent },
  { prefix: keyFingerprintStreamPrefix, read: readKeyFingerprintEvent },
  { prefix: acknowledgementsStream, read: readAcknowledgement },
];

export const streamPrefixes: readonly string[] = streamKinds.map(({ prefix }) => prefix);
