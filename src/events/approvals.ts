/** What one member of staff proposed, because the amount is above the limit, and another approved or rejected. */
import { byKind } from '@ledger/kernel/matches-schema.ts';
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import { enums, type Infer, integer, literal, min, nullable, object, string } from 'superstruct';
import { sen } from '../common/money.ts';
import { resolutions } from './recorded-result.ts';

const no = min(integer(), 1);

/** What staff do with money, immediately or after an approval. */
const StaffAction = byKind({
  resolution: object({
    kind: literal('resolution'),
    /** The number of the payment's recorded result. */
    resultNo: no,
    resolution: enums(resolutions),
    note: string(),
  }),
  refund: object({
    kind: literal('refund'),
    /** The number of the recorded result whose money is refunded. */
    chargeNo: no,
    amountSen: sen,
    /** The reference of the refund at the gateway or the bank. The same reference is the same refund. */
    gatewayReference: string(),
    reason: string(),
  }),
});
export type StaffAction = Infer<typeof StaffAction>;
export type ResolutionAction = Omit<Extract<StaffAction, { kind: 'resolution' }>, 'kind'>;
export type RefundAction = Omit<Extract<StaffAction, { kind: 'refund' }>, 'kind'>;

/** `by` is `staff:<id>`; proposals of a payment are numbered from 1. */
const decided = object({ at: utc, by: string(), no, note: string() });

export const approvalEvents = {
  /** `amountSen` is what is at stake, null where that is not known. */
  ApprovalRequested: object({ at: utc, by: string(), amountSen: nullable(sen), action: StaffAction }),
  /** The event of what was proposed follows. */
  ApprovalGranted: decided,
  ApprovalRejected: decided,
};

export type ApprovalEvent = EventOf<typeof approvalEvents>;

export type Approval = Infer<typeof approvalEvents.ApprovalRequested> & {
  /** Counted from 1. */
  no: number;
  decided: { at: string; by: string; outcome: 'granted' | 'rejected'; note: string } | null;
};

/** Total. */
export function evolveApprovals(
  approvals: readonly Approval[] = [],
  event: ApprovalEvent,
): readonly Approval[] {
  if (event.type === 'ApprovalRequested')
    return [...approvals, { ...event.data, no: approvals.length + 1, decided: null }];
  const { no: decidedNo, ...by } = event.data;
  const outcome = event.type === 'ApprovalGranted' ? 'granted' : 'rejected';
  return approvals.map((each) =>
    each.no === decidedNo && each.decided === null ? { ...each, decided: { ...by, outcome } } : each,
  );
}
