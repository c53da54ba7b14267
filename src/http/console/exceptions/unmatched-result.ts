/** /console/exceptions/unmatched/{id}: a result in quarantine, and on a page of its own what was received. */
import { headOf } from '../../../commands/execute.ts';
import { unmatchedDecider } from '../../../commands/unmatched.ts';
import { readUnmatchedResult } from '../../../events/codec.ts';
import { actorOf } from '../../../events/envelope.ts';
import {
  placeOfUnmatched,
  resolutionStream,
  type UnmatchedResolution,
  unmatchedResolutions,
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
  const { id = '' } = ctx.params;
  const place = placeOfUnmatched(id);
  const [stored] = place ? await eventStore.load(place.stream, place.revision, 1) : [];
  if (!place || !stored) throw new HttpProblem(404, 'There is no such unmatched result');
  const { evidence, ...result } = readUnmatchedResult(stored).data;
  const resolutions = await eventStore.load(resolutionStream(id));
  const head = headOf(resolutions, unmatchedDecider);
  const found: FoundException<UnmatchedResolution> = {
    model: {
      title: kindTexts.unmatched.name,
      meaning: kindTexts.unmatched.meaning,
      url: `/console/exceptions/unmatched/${id}`,
      ...place,
      result: { ...result, reasonText: reasonTexts[result.reason] },
      evidence: null,
    },
    choices: unmatchedResolutions,
    resolved: head.state,
    resolvedBy: actorOf(resolutions[0]),
    resolve(resolution, cause) {
      const { revision } = place;
      const command = { type: 'ResolveUnmatchedResult', revision, ...resolution } as const;
      return executeUnmatched(resolutionStream(id), command, cause, { from: head });
    },
  };
  return { found, place, evidence };
}

export const showUnmatched = showOne(source);
export const resolveUnmatched = resolveOne(source);

/** The same page with the result as it was received. */
export const showUnmatchedEvidence: Page = async (ctx, dependencies) => {
  const { found, place, evidence } = await findResult(ctx, dependencies);
  const detail = `${place.stream} ${place.revision}`;
  await dependencies.recordAccess(ctx, { what: 'evidence', transactionId: null, detail });
  const opened = await dependencies.personalData.open(evidence, {
    stream: place.stream,
    field: 'evidence',
  });
  await showException(ctx, dependencies, source, found, {
    evidence: opened.kind === 'open' ? Object.entries(opened.value) : [],
    withheld: opened.kind === 'open' ? '' : withheldTexts[opened.kind],
  });
};
