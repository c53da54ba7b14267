/** POST /<channel>/response: the gateway's report of how an attempt ended, from its server and through the browser. */
import type { ExpectedRevision } from '@ledger/event-store/event-store.ts';
import { verifyFields } from '../../clients/gateway/checksum.ts';
import {
  type GatewayFields,
  type GatewayResult,
  readGatewayResult,
} from '../../clients/gateway/read-result.ts';
import { Refused } from '../../commands/decider.ts';
import { transactionIdPattern } from '../../commands/transaction-id.ts';
import type { Config } from '../../config/config.ts';
import { merchantCodeOf } from '../../config/merchants.ts';
import { UnreadableEvent } from '../../events/codec.ts';
import { paymentStream } from '../../events/payment.ts';
import type { GatewayResultUnmatched } from '../../events/unmatched.ts';
import { type Context, causeOf, HttpProblem } from '../server/context.ts';
import type { PaymentChannel } from './channel.ts';

export async function recordResponse(ctx: Context, dependencies: PaymentChannel): Promise<void> {
  const { channel, config, leadToReceipt, quarantine, runtime } = dependencies;
  const raw = fieldsOf(ctx.request.body ?? {});
  const verified = authenticate(raw, config.gateway);
  checkDirection(raw, config.gateway, runtime.now());
  const keepUnmatched = (reason: GatewayResultUnmatched['reason']) =>
    quarantine({ at: runtime.now().toISOString(), channel, verified, reason, raw }, causeOf(ctx, 'gateway'));

  // Every result has it; our own hand-over form, which is signed with the same key, has none.
  if (fieldOf(raw, 'STATUS') === '') throw unusable(400, 'STATUS is missing');
  const reported = readGatewayResult(raw);
  if (!reported) {
    await keepUnmatched('unreadable');
    throw unusable(400, 'STATUS must be 0, 1, 2 or 3');
  }
  const merchantCode = merchantCodeOf(config.merchants, reported.merchantCode);
  // The land registry's interface requires this; a generic payment keeps the merchant that it was requested for.
  if (channel === 'landreg' && !config.merchants.has(merchantCode)) {
    await keepUnmatched('unknown_agency');
    throw new HttpProblem(404, 'Agency not found', { kind: 'agencyNotFound' });
  }
  const recorded = await record(ctx, { ...reported, merchantCode }, verified, dependencies);
  if (recorded === 'unknown_transaction') {
    await keepUnmatched(recorded);
    throw unusable(404, 'Transaction not found');
  }
  // A gateway that is refused may give up, and this result is valid: staff settle it.
  if (recorded === 'unreadable_payment') await keepUnmatched(recorded);
  // The result is durable by now, even if this answer is lost.
  leadToReceipt(ctx, reported.transactionId, recorded === 'unreadable_payment' ? 'no_stream' : recorded);
}

/** A payer who is back from the bank must not be told to pay again. */
const unusable = (status: number, message: string) =>
  new HttpProblem(status, message, { kind: 'unusableResult' });

/** The revision at which the payment holds the result, or why no payment holds it. */
async function record(
  ctx: Context,
  { transactionId, merchantCode, result }: GatewayResult,
  verified: boolean,
  { channel, execute, runtime }: PaymentChannel,
): Promise<ExpectedRevision | 'unknown_transaction' | 'unreadable_payment'> {
  if (!transactionIdPattern.test(transactionId)) return 'unknown_transaction';
  const at = runtime.now().toISOString();
  try {
    const given = { at, source: 'gateway', verified, channel, merchantCode, result } as const;
    const command = { type: 'RecordGatewayResult', ...given } as const;
    return (await execute(paymentStream(transactionId), command, causeOf(ctx, 'gateway'))).revision;
  } catch (error) {
    if (error instanceof Refused && error.code === 'unmatched_result') return 'unknown_transaction';
    if (error instanceof UnreadableEvent) return 'unreadable_payment';
    throw error;
  }
}

/** Whether the checksum proves the result; false for an unsigned one, where those are accepted. Throws HttpProblem 401. */
function authenticate(fields: GatewayFields, gateway: Config['gateway']): boolean {
  const checksums = [gateway.secret, ...gateway.otherSecrets].map((secret) => verifyFields(fields, secret));
  if (checksums.includes('valid')) return true;
  const isUnsigned = checksums.includes('missing') && fieldOf(fields, 'STATUS') !== '';
  if (isUnsigned && gateway.acceptUnsigned) return false;
  throw unusable(401, 'CHECKSUM is missing or wrong');
}

/**
 * From the configured time on, a result must be labelled as one. Until then a result without a label is accepted, and
 * so is one with the label of the hand-over, because the gateway may return every field that it got. Throws HttpProblem
 * 401.
 */
function checkDirection(fields: GatewayFields, { labelledFrom }: Config['gateway'], now: Date): void {
  if (labelledFrom === null || now < labelledFrom || fieldOf(fields, 'DIRECTION') === 'result') return;
  throw unusable(401, 'DIRECTION must be result');
}

/** `''` if there is none; names in any case. */
function fieldOf(fields: GatewayFields, name: string): string {
  return Object.entries(fields).find(([each]) => each.toUpperCase() === name)?.[1] ?? '';
}

/** Far more than a gateway sends, and one less than the parser of forms reads, so that it is noticed if it leaves some out. */
const maxFields = 999;

/** The fields as sent. A name may occur only once, whatever its case: of two values, nobody could say which was signed. */
function fieldsOf(body: unknown): GatewayFields {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw unusable(400, 'The body must be a form or a JSON object');
  if (Object.keys(body).length > maxFields)
    throw new HttpProblem(400, `A result must have at most ${maxFields} fields`);
  const entries = Object.entries(body).map(([name, value]) => [name, textOf(name, value)] as const);
  if (new Set(entries.map(([name]) => name.toUpperCase())).size < entries.length)
    throw unusable(400, 'A field was sent twice');
  return Object.fromEntries(entries);
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string' && value.isWellFormed() && name.isWellFormed()) return value;
  throw unusable(400, 'Every field must be a text, sent once');
}
