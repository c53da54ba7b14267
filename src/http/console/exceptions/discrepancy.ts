/** One difference between the ledger and an export: both sides, and what staff know of it. */
import { Refused } from '../../../commands/decider.ts';
import { type Head, headOf } from '../../../commands/execute.ts';
import { reconciliationDecider } from '../../../commands/reconciliation.ts';
import { transactionIdPattern } from '../../../commands/transaction-id.ts';
import type { Metadata } from '../../../events/envelope.ts';
import { type Difference, reconciliationStream } from '../../../events/reconciliation.ts';
import { derivedIdPattern } from '../../../kernel/derived-id.ts';
import { sideText } from '../../../reconciliation/texts.ts';
import type { Context } from '../../server/context.ts';
import { staffCause } from '../frame/access-log.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import type { ConsoleRoute } from '../frame/route.ts';
import { readResolution, type TypedResolution } from './resolution-form.ts';
import { discrepancyKindTexts, discrepancyResolutionTexts } from './texts.ts';

const path = '/console/exceptions/difference/:id';

export function discrepancyRoutes(parts: ConsoleParts): ConsoleRoute[] {
  const { clock, console: own, frame } = parts;
  return [
    {
      method: 'get',
      path,
      action: 'look',
      handle: async (ctx) => show(ctx, parts, await find(ctx, parts), {}),
    },
    {
      method: 'post',
      path,
      action: 'resolve',
      async handle(ctx, staff) {
        const { id, head } = await find(ctx, parts);
        const form = readResolution(ctx, ['explained']);
        const showAgain = async (status: number, problem: string) => {
          ctx.status = status;
          await show(ctx, parts, await find(ctx, parts), { typed: form.typed, problem });
        };
        if ('fault' in form) return showAgain(400, form.fault);
        const at = clock().toISOString();
        const { note } = form.said;
        try {
          const command = { type: 'ResolveDiscrepancy', at, note } as const;
          await own.executeDifference(reconciliationStream(id), command, staffCause(ctx, staff), {
            from: head,
          });
        } catch (error) {
          if (error instanceof Refused) return showAgain(409, error.message);
          throw error;
        }
        frame.done(ctx, ctx.path, 'resolved');
      },
    },
  ];
}

/** `''` for what no payment here can be called. */
export function paymentIdOf({ transactionId }: { transactionId: string }): string {
  return transactionIdPattern.test(transactionId) ? transactionId : '';
}

type Found = {
  id: string;
  difference: Difference;
  head: Head<Difference | null>;
  foundBy: string;
  resolvedBy: string;
};

async function find(ctx: Context, { eventStore }: Pick<ConsoleParts, 'eventStore'>): Promise<Found> {
  const { id = '' } = ctx.params;
  const events = derivedIdPattern.test(id) ? await eventStore.load(reconciliationStream(id)) : [];
  const head = headOf(events, reconciliationDecider);
  const { state: difference } = head;
  if (!difference) throw new ConsoleProblem(404, 'There is no such difference');
  const actorOf = (type: string) =>
    (events.findLast((event) => event.type === type)?.metadata as Metadata | undefined)?.actor ?? '';
  return {
    id,
    difference,
    head,
    foundBy: actorOf('ReconciliationDifferenceFound'),
    resolvedBy: actorOf('ReconciliationDifferenceResolved'),
  };
}

async function show(
  ctx: Context,
  { frame }: Pick<ConsoleParts, 'frame'>,
  { id, difference, foundBy, resolvedBy }: Found,
  {
    typed = { resolution: '', note: '' },
    problem = null,
  }: { typed?: TypedResolution; problem?: string | null },
): Promise<void> {
  const { kind, resolved } = difference;
  await frame.show(ctx, 'exceptions/difference.njk', {
    title: discrepancyKindTexts[kind].name,
    meaning: discrepancyKindTexts[kind].meaning,
    url: `/console/exceptions/difference/${id}`,
    difference,
    paymentId: paymentIdOf(difference),
    foundBy,
    ours: sideText(difference.ours),
    theirs: sideText(difference.theirs),
    resolved: resolved && { ...resolved, ...discrepancyResolutionTexts[resolved.resolution], by: resolvedBy },
    choices: [{ value: 'explained', ...discrepancyResolutionTexts.explained }],
    form: { typed, problem },
  });
}
