/** /console/exceptions/parked/{stream}: a stream that projections have parked. It is open until all of them process it again. */
import { type ProjectionStatus, projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import { createExecuteRequest, loadRequests } from '../../../commands/projection-requests.ts';
import { HttpProblem } from '../../server/context.ts';
import { leadTo, type Page, type PageDependencies, staffCause } from '../frame/page.ts';
import { textsOf } from '../texts.ts';

/** How long staff wait for the answer of the roles, which usually takes a moment. */
const answerWithinMs = 5_000;
const pollMs = 100;

export const showParkedStream: Page = async (ctx, { askReadModels, db, eventStore, show }) => {
  const { stream = '' } = ctx.params;
  const [statuses] = await askReadModels(ctx, [projectionStatus(db)]);
  const parked = parkedIn(statuses, stream);
  if (parked.length === 0) throw new HttpProblem(404, 'This stream is not parked');
  const { meaning, name: title } = textsOf(ctx).exceptions.kinds.parked;
  const isWaiting = await isAwaited(eventStore, parked, stream);
  await show(ctx, 'exceptions/parked-stream.njk', { title, meaning, stream, parked, isWaiting });
};

/** Requests it of the roles that keep these tables: src/reactors/projection-requests/watch.ts. */
export const retryParkedStream: Page = async (ctx, dependencies) => {
  const { askReadModels, db, eventStore, projections, runtime } = dependencies;
  const { stream = '' } = ctx.params;
  const askStatus = () => askReadModels(ctx, [projectionStatus(db)]);
  const [before] = await askStatus();
  // Tables that a rebuild is making are left out.
  const parked = parkedIn(before, stream).filter(({ projection }) =>
    projections.some(({ name }) => name === projection),
  );
  const execute = createExecuteRequest(eventStore);
  const data = { at: runtime.now().toISOString(), stream };
  const request = { type: 'ParkedStreamRetryRequested', data } as const;
  for (const { projection } of parked) await execute(projection, request, staffCause(ctx));
  const waiting = runtime.timeout(answerWithinMs);
  const isWaiting = () => isAwaited(eventStore, parked, stream);
  while (!waiting.aborted && (await isWaiting())) await runtime.sleep(pollMs, waiting);
  const [after] = await askStatus();
  if (parkedIn(after, stream).length === 0) return leadTo(ctx, '/console/exceptions', 'unparked');
  const notice = (await isWaiting()) ? 'retry-requested' : 'still-parked';
  leadTo(ctx, `/console/exceptions/parked/${encodeURIComponent(stream)}`, notice);
};

/** Whether one of these projections has not answered a request to try the stream again. */
async function isAwaited(
  eventStore: PageDependencies['eventStore'],
  parked: readonly { projection: string }[],
  stream: string,
): Promise<boolean> {
  const requests = await Promise.all(parked.map(({ projection }) => loadRequests(eventStore, projection)));
  return requests.some(({ state }) => state.retries.includes(stream));
}

function parkedIn(statuses: readonly ProjectionStatus[], stream: string) {
  return statuses.flatMap(({ name, parked }) =>
    parked.filter((each) => each.stream === stream).map((each) => ({ ...each, projection: name })),
  );
}
