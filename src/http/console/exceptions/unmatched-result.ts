/** /console/exceptions/unmatched/{id}: a result in quarantine, and on a page of its own what was received. */
import { readGatewayResult } from '../../../clients/gateway/read-result.ts';
import { Refused } from '../../../commands/decider.ts';
import { createExecute } from '../../../commands/execute.ts';
import { transactionIdPattern } from '../../../commands/transaction-id.ts';
import { loadUnmatched, unmatchedDecider } from '../../../commands/unmatched.ts';
import { merchantCodeOf } from '../../../config/merchants.ts';
import { UnreadableEvent } from '../../../events/codec.ts';
import { paymentStream } from '../../../events/payment.ts';
import {
  resolutionStream,
  type UnmatchedResolution,
  unmatchedResolutions,
} from '../../../events/unmatched.ts';
import { unmatchedSubject } from '../../../personal-data/erase.ts';
import { HttpProblem } from '../../server/context.ts';
import { leadTo, type Page, type PageDependencies, staffCause } from '../frame/page.ts';
import { eraseForm } from '../payments/erase.ts';
import { exceptionForm, exceptionModel, type FoundException } from './exception-page.ts';

/** Throws Refused if there is none. */
export const findUnmatched = async (id: string, dependencies: Pick<PageDependencies, 'eventStore'>) =>
  (await findResult(id, dependencies)).found;

export const unmatchedResult = exceptionForm('unmatched', (ctx, dependencies) =>
  findUnmatched(ctx.params.id ?? '', dependencies),
);

/** The result as an exception; and what was received, sealed, which only the evidence page shows. */
async function findResult(id = '', { eventStore }: Pick<PageDependencies, 'eventStore'>) {
  const loaded = await loadUnmatched(id, eventStore);
  if (!loaded) throw new Refused('unknown_exception', 'There is no such unmatched result');
  const { evidence, head, personalData, resolvedBy, result, revision, stream } = loaded;
  const url = `/console/exceptions/unmatched/${id}`;
  const found: FoundException<UnmatchedResolution> = {
    kind: 'unmatched',
    model: {
      url,
      stream,
      revision,
      result,
      erasedAt: head.state.erasedAt,
      mayBeRecorded: result.reason !== 'unreadable' && head.state.erasedAt === null,
      evidence: null,
    },
    choices: unmatchedResolutions,
    resolved: head.state.resolved,
    resolvedBy,
    resolve(resolution, cause) {
      const command = { type: 'ResolveUnmatchedResult', revision, ...resolution } as const;
      const execute = createExecute({ eventStore, decider: unmatchedDecider });
      return execute(resolutionStream(id), command, cause, { from: head });
    },
  };
  const place = { stream, field: 'evidence' } as const;
  return { found, evidence, personalData, place, result, url, id };
}

/** The same page with the result as it was received. */
export const showUnmatchedEvidence: Page = async (ctx, dependencies) => {
  const { found, place, evidence } = await findResult(ctx.params.id, dependencies);
  const detail = `${place.stream} ${found.model.revision}`;
  await dependencies.recordAccess(ctx, { what: 'evidence', transactionId: null, detail });
  const opened = await dependencies.personalData.open(evidence, place);
  await dependencies.show(ctx, 'exceptions/unmatched.njk', {
    problem: null,
    ...(await exceptionModel(ctx, dependencies, 'unmatched', found)),
    evidence: opened.kind === 'open' ? Object.entries(opened.value) : [],
    withheld: opened.kind === 'open' ? '' : opened.kind,
  });
};

/** Records the result at the payment that it names, which recognises one that it has, and resolves the exception. */
export const recordAtPayment: Page = async (ctx, dependencies) => {
  const { config, execute, personalData, runtime } = dependencies;
  const { evidence, found, place, result, url } = await findResult(ctx.params.id, dependencies);
  const opened = await personalData.open(evidence, place);
  const reported = opened.kind === 'open' ? readGatewayResult(opened.value) : null;
  if (!reported || found.resolved || !transactionIdPattern.test(reported.transactionId))
    throw new HttpProblem(409, 'This result names no payment, or is resolved already');
  const { transactionId } = reported;
  const { channel, verified } = result;
  const at = runtime.now().toISOString();
  const cause = staffCause(ctx);
  const merchantCode = merchantCodeOf(config.merchants, reported.merchantCode);
  const given = { at, source: 'gateway', verified, channel, merchantCode, result: reported.result } as const;
  const command = { type: 'RecordGatewayResult', ...given } as const;
  const notRecorded = problemIf({
    refused: 'There is still no payment to which this result belongs',
    unreadable: 'The events of its payment still cannot be read',
  });
  const notResolved = problemIf({
    refused:
      'It is recorded at its payment, but somebody else has resolved it differently at the same moment: find out which is right',
    unreadable: 'It is recorded at its payment, but the events of its resolution cannot be read',
  });
  await execute(paymentStream(transactionId), command, cause).catch(notRecorded);
  const settled = { resolution: 'settled', note: 'Recorded at its payment', at } as const;
  await found.resolve(settled, cause, {}).catch(notResolved);
  leadTo(ctx, url, 'resolved');
};

/** For `catch`: what to tell staff if a command was refused, or its stream cannot be read. Throws any other error. */
function problemIf({ refused, unreadable }: { refused: string; unreadable: string }) {
  return (error: unknown): never => {
    if (error instanceof Refused) throw new HttpProblem(409, refused);
    throw error instanceof UnreadableEvent ? new HttpProblem(409, unreadable) : error;
  };
}

export const eraseUnmatchedResult = eraseForm(async (ctx, dependencies) => {
  const { id, personalData, url } = await findResult(ctx.params.id, dependencies);
  return { subject: unmatchedSubject(id), path: url, personalData };
});
