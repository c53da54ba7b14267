/** /console/exceptions/unmatched/{revision}: a result in quarantine, and on a page of its own what was received. */
import { headOf } from '../../../commands/execute.ts';
import { unmatchedDecider } from '../../../commands/unmatched.ts';
import { readUnmatchedResult } from '../../../events/codec.ts';
import { actorOf } from '../../../events/envelope.ts';
import {
  resolutionStream,
  type UnmatchedResolution,
  unmatchedResolutions,
  unmatchedStream,
} from '../../../events/unmatched.ts';
import type { Context } from '../../server/context.ts';
import { HttpProblem } from '../../server/errors.ts';
import type { Page, PageDependencies } from '../frame/page.ts';
import {
  type ExceptionSource,
  type FoundException,
  resolveOne,
  showException,
  showOne,
} from './exception-page.ts';
import { kindTexts, reasonTexts, unmatchedResolutionTexts, withheldTexts } from './texts.ts';

const source: ExceptionSource<UnmatchedResolution> = {
  template: 'unmatched.njk',
  meanings: unmatchedResolutionTexts,
  find: async (ctx, dependencies) => (await findResult(ctx, dependencies)).found,
};

/** The result as an exception; and what was received, sealed, which only the evidence page shows. */
async function findResult(ctx: Context, { eventStore, executeUnmatched }: PageDependencies) {
  const { revision: text = '' } = ctx.params;
  const revision = /^(0|[1-9]\d{0,8})$/.test(text) ? Number(text) : null;
  const [stored] = revision === null ? [] : await eventStore.load(unmatchedStream, revision, 1);
  if (revision === null || !stored) throw new HttpProblem(404, 'There is no such unmatched result');
  const { evidence, ...result } = readUnmatchedResult(stored).data;
  const stream = resolutionStream(revision);
  const resolutions = await eventStore.load(stream);
  const head = headOf(resolutions, unmatchedDecider);
  const found: FoundException<UnmatchedResolution> = {
    model: {
      title: kindTexts.unmatched.name,
      meaning: kindTexts.unmatched.meaning,
      url: `/console/exceptions/unmatched/${revision}`,
      revision,
      result: { ...result, reasonText: reasonTexts[result.reason] },
      evidence: null,
    },
    choices: unmatchedResolutions,
    resolved: head.state,
    resolvedBy: actorOf(resolutions[0]),
    resolve(resolution, cause) {
      const command = { type: 'ResolveUnmatchedResult', revision, ...resolution } as const;
      return executeUnmatched(stream, command, cause, { from: head });
    },
  };
  return { found, revision, evidence };
}

export const showUnmatched = showOne(source);
export const resolveUnmatched = resolveOne(source);

/** The same page with the result as it was received. */
export const showUnmatchedEvidence: Page = async (ctx, dependencies) => {
  const { found, revision, evidence } = await findResult(ctx, dependencies);
  const detail = `${unmatchedStream} ${revision}`;
  await dependencies.recordAccess(ctx, { what: 'evidence', transactionId: null, detail });
  const opened = await dependencies.personalData.open(evidence, {
    stream: unmatchedStream,
    field: 'evidence',
  });
  await showException(ctx, dependencies, source, found, {
    evidence: opened.kind === 'open' ? Object.entries(opened.value) : [],
    withheld: opened.kind === 'open' ? '' : withheldTexts[opened.kind],
  });
};
