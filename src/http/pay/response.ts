/** POST /<channel>/response: the gateway reports how an attempt to pay ended, from its server and through the payer's browser. */
import { verifyFields } from '../../clients/gateway/hand-over.ts';
import {
  type GatewayFields,
  type GatewayResult,
  readGatewayResult,
} from '../../clients/gateway/read-result.ts';
import { Refused } from '../../commands/decider.ts';
import { transactionIdPattern } from '../../commands/transaction-id.ts';
import type { Quarantine } from '../../commands/unmatched.ts';
import { type Channel, paymentStream } from '../../events/payment.ts';
import type { GatewayResultUnmatched } from '../../events/unmatched.ts';
import type { Links } from '../../receipts/payment-links.ts';
import { type Context, causeOf, seeOther } from '../server/context.ts';
import { HttpProblem } from '../server/errors.ts';
import type { PayDependencies } from './dependencies.ts';

type ResponseDependencies = Pick<PayDependencies, 'execute'> & {
  channel: Channel;
  quarantine: Quarantine;
  config: Pick<PayDependencies['config'], 'gateway' | 'merchants'>;
  links: Links;
  clock: () => Date;
};

export function createResponse(dependencies: ResponseDependencies) {
  const { channel, config, links } = dependencies;
  return async (ctx: Context): Promise<void> => {
    const fields = fieldsOf(ctx.request.body);
    const verified = authenticate(fields, config.gateway);
    const reported = readGatewayResult(fields);
    if (!reported) {
      await keepUnmatched(ctx, { verified, reason: 'unreadable', raw: fields }, dependencies);
      throw new HttpProblem(400, 'STATUS must be 0, 1, 2 or 3');
    }
    // The land registry's interface asks for this; a generic payment goes on as it was agreed when it was asked for.
    if (channel === 'landreg' && !config.merchants.has(reported.merchantCode)) {
      await keepUnmatched(ctx, { verified, reason: 'unknown_agency', raw: fields }, dependencies);
      throw new HttpProblem(404, 'Agency not found', { kind: 'agencyNotFound' });
    }
    if (!(await record(ctx, reported, verified, dependencies))) {
      await keepUnmatched(ctx, { verified, reason: 'unknown_transaction', raw: fields }, dependencies);
      throw new HttpProblem(404, 'Transaction not found', { kind: 'paymentNotFound' });
    }
    // By now the result is durable, whatever becomes of this answer.
    seeOther(ctx, links.receipt(reported.transactionId));
  };
}

/** False when no payment takes the result. */
async function record(
  ctx: Context,
  { transactionId, merchantCode, result }: GatewayResult,
  verified: boolean,
  { channel, execute, clock }: ResponseDependencies,
): Promise<boolean> {
  if (!transactionIdPattern.test(transactionId)) return false;
  try {
    await execute(
      paymentStream(transactionId),
      {
        type: 'RecordGatewayResult',
        at: clock().toISOString(),
        source: 'gateway',
        verified,
        channel,
        merchantCode,
        result,
      },
      causeOf(ctx, 'gateway'),
    );
    return true;
  } catch (error) {
    if (error instanceof Refused && error.code === 'unmatched_result') return false;
    throw error;
  }
}

function keepUnmatched(
  ctx: Context,
  result: Pick<GatewayResultUnmatched, 'verified' | 'reason' | 'raw'>,
  { channel, quarantine, clock }: ResponseDependencies,
): Promise<void> {
  const unmatched = { at: clock().toISOString(), channel, ...result };
  return quarantine(unmatched, causeOf(ctx, 'gateway'));
}

/** Whether the checksum proves the result; false only where unsigned ones are taken. Throws HttpProblem 401. */
function authenticate(
  fields: GatewayFields,
  { secret, acceptUnsigned }: PayDependencies['config']['gateway'],
): boolean {
  const checksum = verifyFields(fields, secret);
  if (checksum === 'valid') return true;
  if (checksum === 'missing' && acceptUnsigned) return false;
  throw new HttpProblem(401, 'CHECKSUM is missing or wrong');
}

/**
 * The fields as sent. Every name once, whatever its case: of two values nobody could say which one was meant, or
 * which one was signed. A JSON number is no text: 120.50 arrives as 120.5, which nobody signed.
 */
function fieldsOf(body: unknown): GatewayFields {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new HttpProblem(400, 'The body must be a form or a JSON object');
  const entries = Object.entries(body).map(([name, value]) => [name, textOf(name, value)] as const);
  if (new Set(entries.map(([name]) => name.toUpperCase())).size < entries.length)
    throw new HttpProblem(400, 'A field was sent twice');
  return Object.fromEntries(entries);
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string' && value.isWellFormed() && name.isWellFormed()) return value;
  throw new HttpProblem(400, 'Every field must be a text, sent once');
}
