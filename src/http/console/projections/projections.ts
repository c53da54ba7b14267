/** /console/projections: how far each projection is behind the log, what stopped it, and its rebuild. */
import type { ProjectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import { lagMsOf } from '@ledger/projections/runtime/lag.ts';
import type { Followed } from '@ledger/projections/runtime/projection.ts';
import { createExecuteRequest } from '../../../commands/projection-requests.ts';
import { statusWord } from '../../../monitoring/health.ts';
import { erasedKeysList, returnedKeys } from '../../../personal-data/erased-keys.ts';
import { HttpProblem } from '../../server/context.ts';
import { leadTo, type Page, staffCause } from '../frame/page.ts';

const path = '/console/projections';
const answerWithinMs = 2_000;

/** What Postgres or the event store does not answer is shown as unknown. */
export const showProjections: Page = async (ctx, dependencies) => {
  const { db, eventStore, log, lookAtRebuilds, projections, projectionStatus, runtime, show } = dependencies;
  const signal = runtime.timeout(answerWithinMs);
  const unknown = (what: string) => (err: unknown) => {
    log.warn({ err }, `the console cannot read the ${what}`);
    return null;
  };
  const [statuses, rebuilds, returned] = await Promise.all([
    projectionStatus().catch(unknown('status of the projections')),
    lookAtRebuilds().catch(unknown('progress of rebuilds')),
    returnedKeys(db).catch(unknown('number of erased keys that were back')),
  ]);
  const rows = await Promise.all(
    projections.map(async (projection) => {
      const at = { now: runtime.now(), signal };
      const lagMs = statuses && (await lagMsOf(eventStore, projection, statuses, at).catch(() => null));
      const status = statuses?.find(({ name }) => name === projection.name);
      const rebuild = rebuilds?.find(({ name }) => name === projection.name) ?? null;
      const ofErasedKeys = projection.name === erasedKeysList.name ? { returned } : null;
      return { ...rowOf(projection, status, lagMs), rebuild, ofErasedKeys };
    }),
  );
  const isBusy = rows.some(({ rebuild }) => rebuild?.state === 'running' || rebuild?.state === 'waiting');
  await show(ctx, 'projections/projections.njk', { rows, isBusy });
};

function rowOf(
  { name, version, isNeverRebuilt }: Followed,
  status: ProjectionStatus | undefined,
  lagMs: number | null,
) {
  return {
    name,
    isNeverRebuilt: isNeverRebuilt === true,
    status: status ? statusWord(status.fault !== null, lagMs) : 'unknown',
    lag: lagMs === null ? 'not known' : lagText(lagMs),
    position: status?.position?.commit.toLocaleString('en') ?? '',
    version: status && status.version !== version ? `${status.version}, here ${version}` : `${version}`,
    fault: status?.fault ?? null,
    parked: status?.parked.length ?? 0,
  };
}

function lagText(lagMs: number): string {
  return lagMs === 0 ? 'none' : `${Math.ceil(lagMs / 1000).toLocaleString('en')} s`;
}

export const requestRebuild: Page = async (ctx, { eventStore, projections, runtime }) => {
  const projection = projections.find(
    ({ isNeverRebuilt, name }) => !isNeverRebuilt && name === ctx.params.name,
  );
  if (!projection) throw new HttpProblem(404, 'There is no such projection');
  const at = runtime.now().toISOString();
  const data = { at, projection: projection.name };
  const request = { type: 'ProjectionRebuildRequested', data } as const;
  await createExecuteRequest(eventStore)(projection.name, request, staffCause(ctx));
  leadTo(ctx, path, 'rebuild-requested');
};
