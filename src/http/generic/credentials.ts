/** POST /generic/credentials/{kind}/rotate and …/end-overlap: a merchant replaces its own API key or webhook secret. */
import { maskable } from '@ledger/kernel/structs.ts';
import { withJsonSchema } from '@ledger/kernel/with-json-schema.ts';
import type { Next } from 'koa';
import { define, type Infer, optional } from 'superstruct';
import { credentialDecider } from '../../commands/credentials.ts';
import { createExecute } from '../../commands/execute.ts';
import { toIsoWithOffset } from '../../common/malaysian-time.ts';
import { type CredentialKind, credentialKinds, merchantStream } from '../../events/merchant.ts';
import { type Context, causeOf, HttpProblem } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';
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

type Asked = Context<FromMerchant & { kind: CredentialKind; body: Infer<typeof Rotation> }>;

/** Koa middleware: which kind the path names. Throws HttpProblem 404. A body is not needed. */
export function readKind(ctx: Asked, next: Next): Promise<unknown> {
  const kind = credentialKinds.find((each) => each === ctx.params.kind);
  if (!kind) throw new HttpProblem(404, 'There is no such credential');
  ctx.state.kind = kind;
  ctx.request.body ??= {};
  return next();
}

export function createCredentialActions({
  credentials,
  eventStore,
  personalData: { seal },
  runtime,
}: Dependencies) {
  const execute = createExecute({ eventStore, decider: credentialDecider, seal });
  const asked = ({ state: { apiKey, kind, merchant } }: Asked, now: Date) => ({
    at: now.toISOString(),
    kind,
    by: credentials.fingerprintOf('api-key', apiKey),
    configured: credentials.configured(merchant),
  });
  const causedBy = (ctx: Asked) => causeOf(ctx, `merchant:${ctx.state.merchant.code}`);
  return {
    /** The answer is the only place where the new one is ever shown. */
    async rotate(ctx: Asked): Promise<void> {
      const { body, kind, merchant, spend } = ctx.state;
      await spend('rotations', merchant.code);
      const now = runtime.now();
      const bytes = runtime.randomBytes(32);
      const text =
        kind === 'api-key' ? `key_${bytes.toString('base64url')}` : `whsec_${bytes.toString('base64')}`;
      const othersEndAt = new Date(now.getTime() + (body.overlap_hours ?? 24) * 3_600_000).toISOString();
      const command = {
        type: 'IssueCredential',
        ...asked(ctx, now),
        fingerprint: credentials.fingerprintOf(kind, text),
        secret: kind === 'api-key' ? null : text,
        othersEndAt,
      } as const;
      await execute(merchantStream(merchant.code), command, causedBy(ctx));
      const others_end_at = toIsoWithOffset(othersEndAt);
      const message = 'Store it now: it is not shown again';
      ctx.status = 201;
      ctx.body = { status: true, message, data: { kind, value: text, others_end_at } };
    },
    async endOverlap(ctx: Asked): Promise<void> {
      const command = { type: 'EndOverlap', ...asked(ctx, runtime.now()) } as const;
      await execute(merchantStream(ctx.state.merchant.code), command, causedBy(ctx));
      ctx.status = 202;
      ctx.body = { status: true, message: 'Only the newest is valid from now on' };
    },
  };
}
