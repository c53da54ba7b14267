/** One gateway result that no payment took: why, what was received (behind a click), and what staff found. */
import { Refused } from '../../../commands/decider.ts';
import { type Head, headOf } from '../../../commands/execute.ts';
import { unmatchedDecider } from '../../../commands/unmatched.ts';
import { readUnmatchedResult } from '../../../events/codec.ts';
import type { Metadata } from '../../../events/envelope.ts';
import {
  type GatewayResultUnmatched,
  type ResolvedUnmatched,
  resolutionStream,
  unmatchedResolutions,
  unmatchedStream,
} from '../../../events/unmatched.ts';
import type { Context } from '../../server/context.ts';
import { staffCause } from '../frame/access-log.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import type { ConsoleRoute } from '../frame/route.ts';
import { readResolution, type TypedResolution } from './resolution-form.ts';
import { kindTexts, reasonTexts, unmatchedResolutionTexts } from './texts.ts';

const path = '/console/exceptions/unmatched/:revision';

export function unmatchedRoutes(parts: ConsoleParts): ConsoleRoute[] {
  const { clock, console: own, frame, recordLook } = parts;
  return [
    {
      method: 'get',
      path,
      action: 'look',
      handle: async (ctx) => show(ctx, parts, await find(ctx, parts), {}),
    },
    {
      method: 'get',
      path: `${path}/evidence`,
      action: 'lookAtPeople',
      async handle(ctx, staff) {
        const found = await find(ctx, parts);
        const detail = `${unmatchedStream} ${found.revision}`;
        await recordLook(ctx, staff, { what: 'evidence', transactionId: null, detail });
        await show(ctx, parts, found, { showsEvidence: true });
      },
    },
    {
      method: 'post',
      path,
      action: 'resolve',
      async handle(ctx, staff) {
        const { revision, head } = await find(ctx, parts);
        const form = readResolution(ctx, unmatchedResolutions);
        const showAgain = async (status: number, problem: string) => {
          ctx.status = status;
          await show(ctx, parts, await find(ctx, parts), { typed: form.typed, problem });
        };
        if ('fault' in form) return showAgain(400, form.fault);
        const at = clock().toISOString();
        try {
          const command = { type: 'ResolveUnmatchedResult', at, revision, ...form.said } as const;
          await own.executeUnmatched(resolutionStream(revision), command, staffCause(ctx, staff), {
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

type Found = {
  revision: number;
  result: GatewayResultUnmatched;
  /** Of the stream that says what staff found. */
  head: Head<ResolvedUnmatched | null>;
  /** Who resolved it. */
  resolvedBy: string | null;
};

async function find(ctx: Context, { eventStore }: Pick<ConsoleParts, 'eventStore'>): Promise<Found> {
  const { revision: text = '' } = ctx.params;
  const revision = /^(0|[1-9]\d{0,8})$/.test(text) ? Number(text) : null;
  const [stored] = revision === null ? [] : await eventStore.load(unmatchedStream, revision, 1);
  if (revision === null || !stored) throw new ConsoleProblem(404, 'There is no such unmatched result');
  const said = await eventStore.load(resolutionStream(revision));
  return {
    revision,
    result: readUnmatchedResult(stored).data,
    head: headOf(said, unmatchedDecider),
    resolvedBy: said[0] ? (said[0].metadata as Metadata).actor : null,
  };
}

async function show(
  ctx: Context,
  { frame }: Pick<ConsoleParts, 'frame'>,
  { revision, result, head: { state: resolved }, resolvedBy }: Found,
  {
    typed = { resolution: '', note: '' },
    problem = null,
    showsEvidence = false,
  }: { typed?: TypedResolution; problem?: string | null; showsEvidence?: boolean },
): Promise<void> {
  const { raw, ...known } = result;
  await frame.show(ctx, 'exceptions/unmatched.njk', {
    title: kindTexts.unmatched.name,
    meaning: kindTexts.unmatched.meaning,
    url: `/console/exceptions/unmatched/${revision}`,
    revision,
    result: { ...known, reasonText: reasonTexts[known.reason] },
    evidence: showsEvidence ? Object.entries(raw) : null,
    resolved: resolved && { ...resolved, ...unmatchedResolutionTexts[resolved.resolution], by: resolvedBy },
    choices: unmatchedResolutions.map((value) => ({ value, ...unmatchedResolutionTexts[value] })),
    form: { typed, problem },
  });
}
