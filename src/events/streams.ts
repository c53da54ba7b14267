/**
 * Every kind of stream that the ledger writes, and how its events are read. Seals and `ledger verify` use this list: a
 * stream that is missing here is neither sealed nor verified. The stream of seals is not in it, because seals do not
 * cover seals.
 */
import { acknowledgementsStream, readAcknowledgement } from './acknowledgements.ts';
import type { Fold } from './codec.ts';
import { keyFingerprintFold } from './key-fingerprint.ts';
import { merchantFold } from './merchant.ts';
import { passkeyUseFold } from './passkeys.ts';
import { paymentFold } from './payment.ts';
import { projectFold } from './project.ts';
import { projectionRequestFold } from './projection-requests.ts';
import { reconciliationFold } from './reconciliation.ts';
import { sessionFold } from './session.ts';
import { settlementFold } from './settlement.ts';
import { sharedNumberFold } from './shared-number.ts';
import { quarantineFold, unmatchedFold } from './unmatched.ts';
import { userFold } from './user.ts';

/** No prefix begins with another. */
export const streamKinds: readonly Pick<Fold<unknown, unknown>, 'prefix' | 'read'>[] = [
  paymentFold,
  quarantineFold,
  unmatchedFold,
  userFold,
  passkeyUseFold,
  projectFold,
  reconciliationFold,
  settlementFold,
  sharedNumberFold,
  sessionFold,
  merchantFold,
  projectionRequestFold,
  keyFingerprintFold,
  { prefix: acknowledgementsStream, read: readAcknowledgement },
];

export const streamPrefixes: readonly string[] = streamKinds.map(({ prefix }) => prefix);
