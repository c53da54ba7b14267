/** /console/exceptions/unmatched/{revision}: a gateway result in quarantine, and what was received on a page of its own. */
import { readUnmatchedEvent, readUnmatchedResult } from '../../../events/codec.ts';
import type { Metadata } from '../../../events/envelope.ts';
import {
  evolveUnmatched,
  type GatewayResultUnmatched,
  type ResolvedUnmatched,
  resolutionStream,
  type UnmatchedResolution,
  unmatchedResolutions,
  unmatchedStream,
} from '../../../events/unmatched.ts';
import type { Page } from '../frame/page.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import { type ExceptionSource, exceptionPage } from './exception-page.ts';
import { kindTexts, reasonTexts, unmatchedResolutionTexts } from './texts.ts';

type Found = {
  revision: number;
  result: GatewayResultUnmatched;
  resolved: ResolvedUnmatched | null;
  resolvedBy: string;
};

const source: ExceptionSource<Found, UnmatchedResolution> = {
  template: 'unmatched.njk',
  meanings: unmatchedResolutionTexts,
  choices: () => unmatchedResolutions,
  resolved: ({ resolved, resolvedBy }) => resolved && { ...resolved, by: resolvedBy },

  async find(ctx, { eventStore }) {
    const { revision: text = '' } = ctx.params;
    const revision = /^(0|[1-9]\d{0,8})$/.test(text) ? Number(text) : null;
    const [stored] = revision === null ? [] : await eventStore.load(unmatchedStream, revision, 1);
    if (revision === null || !stored) throw new ConsoleProblem(404, 'There is no such unmatched result');
    const resolutions = await eventStore.load(resolutionStream(revision));
    return {
      revision,
      result: readUnmatchedResult(stored),
      resolved: resolutions.map(readUnmatchedEvent).reduce<ResolvedUnmatched | null>(evolveUnmatched, null),
      resolvedBy: (resolutions[0]?.metadata as Metadata | undefined)?.actor ?? '',
    };
  },

  model({ revision, result: { raw: _, ...result } }) {
    return {
      ...kindTexts.unmatched,
      title: kindTexts.unmatched.name,
      url: `/console/exceptions/unmatched/${revision}`,
      revision,
      result: { ...result, reasonText: reasonTexts[result.reason] },
      evidence: null,
    };
  },

  resolve: ({ revision }, what, { resolveUnmatched }, cause) =>
    resolveUnmatched({ type: 'ResolveUnmatchedResult', revision, ...what }, cause),
};

const { show, showOne, resolveOne } = exceptionPage(source);

export { resolveOne as resolveUnmatched, showOne as showUnmatched };

/** The same page with the result as it was received. */
export const showUnmatchedEvidence: Page = async (ctx, dependencies) => {
  const found = await source.find(ctx, dependencies);
  const detail = `${unmatchedStream} ${found.revision}`;
  await dependencies.recordAccess(ctx, { what: 'evidence', transactionId: null, detail });
  await show(ctx, dependencies, found, { evidence: Object.entries(found.result.raw) });
};
