/** POST /generic/credentials/{kind}/rotate and …/end-overlap: a merchant replaces its own API key or webhook secret. */
import { maskable } from '@ledger/kernel/structs.ts';
import { withJsonSchema } from '@ledger/kernel/with-json-schema.ts';
import type { Next } from 'koa';
import { define, type Infer, optional } from 'superstruct';
import { type CredentialCommand, credentialDecider } from '../../commands/credentials.ts';
import { createExecute } from '../../commands/execute.ts';
import { toIsoWithOffset } from '../../common/malaysian-time.ts';
import { type CredentialKind, credentialKinds, merchantStream } from '../../events/merchant.ts';
import type { PaymentChannel } from '../pay/channel.ts';
import { type Context, causeOf, HttpProblem } from '../server/context.ts';
import type { FromMerchant } from './authenticate.ts';

const maxHours = 168;
const hours = define<number>('hours', (value) =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= maxHours
    ? true
    : `must be a whole number from 0 to ${maxHours}`,
);

export const Rotation = maskable({
  overlap_hours: optional(
    withJsonSchema(hours, { type: 'integer', minimum: 0, maximum: maxHours, default: 24 }),
  ),
});

type CredentialContext = Context<FromMerchant & { kind: CredentialKind; body: Infer<typeof Rotation> }>;

/** Koa middleware: which kind the path names. Throws HttpProblem 404. A body is not needed. */
export function readKind(ctx: CredentialContext, next: Next): Promise<unknown> {
  const kind = credentialKinds.find((each) => each === ctx.params.kind);
  if (!kind) throw new HttpProblem(404, 'There is no such credential');
  ctx.state.kind = kind;
  ctx.request.body ??= {};
  return next();
}

/** What both commands say of the credential and of the merchant that replaces it. */
const about = ({ state }: CredentialContext, { credentials }: PaymentChannel, now: Date) => ({
  at: now.toISOString(),
  kind: state.kind,
  by: credentials.fingerprintOf('api-key', state.apiKey),
  configured: credentials.configured(state.merchant),
});

async function record(ctx: CredentialContext, channel: PaymentChannel, command: CredentialCommand) {
  const { eventStore, personalData } = channel;
  const { code } = ctx.state.merchant;
  const execute = createExecute({ eventStore, decider: credentialDecider, seal: personalData.seal });
  await execute(merchantStream(code), command, causeOf(ctx, `merchant:${code}`));
}

/** The answer is the only place where the new one is ever shown. */
export async function rotate(ctx: CredentialContext, channel: PaymentChannel): Promise<void> {
  const { credentials, runtime } = channel;
  const { body, kind, merchant, spend } = ctx.state;
  await spend('rotations', merchant.code);
  const now = runtime.now();
  const bytes = runtime.randomBytes(32);
  const isKey = kind === 'api-key';
  const value = isKey ? `key_${bytes.toString('base64url')}` : `whsec_${bytes.toString('base64')}`;
  const othersEndAt = new Date(now.getTime() + (body.overlap_hours ?? 24) * 3_600_000).toISOString();
  await record(ctx, channel, {
    type: 'IssueCredential',
    ...about(ctx, channel, now),
    fingerprint: credentials.fingerprintOf(kind, value),
    secret: isKey ? null : value,
    othersEndAt,
  });
  const data = { kind, value, others_end_at: toIsoWithOffset(othersEndAt) };
  ctx.status = 201;
  ctx.body = { status: true, message: 'Store it now: it is not shown again', data };
}

export async function endOverlap(ctx: CredentialContext, channel: PaymentChannel): Promise<void> {
  await record(ctx, channel, { type: 'EndOverlap', ...about(ctx, channel, channel.runtime.now()) });
  ctx.status = 202;
  ctx.body = { status: true, message: 'Only the newest is valid from now on' };
}
