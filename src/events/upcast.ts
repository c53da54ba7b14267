/**
 * Old events are never rewritten. An event of an earlier schema version is upcast to the current one here when it is
 * read; test/events/golden keeps the events of every version.
 */

/** The version that new events are written with. */
export const schemaVersion = 2;

/** From version 1 to 2, by event type. */
const lifts: Readonly<Record<string, (data: unknown) => unknown>> = {
  PaymentRequested: request,
  PaymentSucceeded: (data) => ({ ...outcome(data), postingRule: 1 }),
  PaymentFailed: outcome,
  PaymentCancelled: outcome,
  PaymentPending: outcome,
  GatewayResultContradicted: result,
  AmountMismatchDetected: (data) => ({ ...result(data), postingRule: 1 }),
  DuplicatePaymentDetected: (data) => ({ ...result(data), postingRule: 1 }),
  ExceptionResolved: (data) => ({ ...(data as object), postingRule: 1 }),
  RequeryAnswered: received,
  ReconciliationDifferenceFound: (data) => ({ ...(data as object), asOf: null }),
  ReconciliationDifferenceResolved: (data) => ({ ...(data as object), asOf: null }),
  GatewayResultUnmatched: (data) => ({ ...received(data), fingerprint: null }),
};

// Data that are not an object get fields, too, and then fail their schema. Version 1 held personal data in plain text.

function request(data: unknown): object {
  const { payer, extra, ...rest } = (data ?? {}) as { payer?: { email?: unknown }; extra?: unknown };
  const emailReceipt = payer?.email !== '';
  return { ...rest, emailReceipt, personal: { plain: { payer, extra } }, fingerprint: null };
}

/** Version 1 left to the fold what a result was about and what it set in motion: upcast-rules.ts. */
function result(data: unknown): object {
  const all = (data ?? {}) as { result?: { buyerName?: unknown; raw?: unknown } };
  const { buyerName, raw, ...rest } = all.result ?? {};
  const sealed = { personal: { plain: { buyerName } }, evidence: { plain: raw } };
  return { ...all, result: rest, ...sealed, orderNo: null };
}

function received(data: unknown): object {
  const { raw, ...rest } = (data ?? {}) as { raw?: unknown };
  return { ...rest, evidence: { plain: raw } };
}

function outcome(data: unknown): object {
  return { ...result(data), merchantCode: null, deliveries: 'rule 1' };
}

/**
 * An event's data in the current schema. Throws on a version newer than this program knows, because an old program must
 * not fold what it does not understand.
 */
export function upcast(type: string, version: number, data: unknown): unknown {
  if (version !== 1 && version !== schemaVersion)
    throw new Error(`Event ${type} has schema version ${version}; this program knows 1 to ${schemaVersion}`);
  const lift = version === 1 && Object.hasOwn(lifts, type) ? lifts[type] : undefined;
  return lift ? lift(data) : data;
}
