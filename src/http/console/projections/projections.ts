/** The projections: how far each is behind, what stopped one, and making its tables anew. */
import { Readable } from 'node:stream';
import { projectionStream } from '../../../events/rebuild.ts';
import { rebuildStandings } from '../../../projections/rebuild/queries.ts';
import type { ProjectionStatus } from '../../../projections/runtime/checkpoints.ts';
import { firstUntaken } from '../../../projections/runtime/lag.ts';
import type { Projection } from '../../../projections/runtime/projection.ts';
import type { Context } from '../../server/context.ts';
import { staffCause } from '../frame/access-log.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import type { ConsoleRoute } from '../frame/route.ts';
import { progressMessages } from './progress-messages.ts';
import { createLookAtRebuilds, type RebuildView } from './rebuilds.ts';

const path = '/console/projections';
const answerWithinMs = 2_000;
const tolerableLagMs = 5_000;
/** Each keeps a connection open. */
const maxWatching = 20;

export function projectionRoutes(parts: ConsoleParts): ConsoleRoute[] {
  const { clock, console: own, content, eventStore, frame } = parts;
  const lookAtRebuilds = createLookAtRebuilds({
    runtime: parts.runtime,
    names: content.projections.map(({ name }) => name),
    eventStore,
    standings: () => rebuildStandings(own.db),
  });
  let watching = 0;

  return [
    {
      method: 'get',
      path,
      action: 'look',
      async handle(ctx) {
        const rows = await rowsOf(parts, lookAtRebuilds);
        const isBusy = rows.some(
          ({ rebuild }) => rebuild?.state === 'running' || rebuild?.state === 'waiting',
        );
        await frame.show(ctx, 'projections/projections.njk', { title: 'Projections', rows, isBusy });
      },
    },
    {
      method: 'post',
      path: `${path}/:name/rebuild`,
      action: 'rebuild',
      async handle(ctx, staff) {
        const { name } = find(ctx, content.projections);
        const command = { type: 'RequestRebuild' as const, at: clock().toISOString(), projection: name };
        await own.executeRebuild(projectionStream(name), command, staffCause(ctx, staff));
        frame.done(ctx, path, 'rebuild-requested');
      },
    },
    {
      method: 'get',
      path: `${path}/progress`,
      action: 'look',
      async handle(ctx) {
        if (watching >= maxWatching) throw new ConsoleProblem(503, 'Too many watch the progress already');
        const gone = new AbortController();
        watching += 1;
        ctx.res.once('close', () => {
          watching -= 1;
          gone.abort();
        });
        const until = AbortSignal.any([gone.signal, own.closing]);
        ctx.type = 'text/event-stream';
        ctx.set('X-Accel-Buffering', 'no');
        ctx.body = Readable.from(progressMessages(lookAtRebuilds, until));
      },
    },
  ];
}

function find(ctx: Context, projections: readonly Projection[]): Projection {
  const projection = projections.find(({ name }) => name === ctx.params.name);
  if (!projection) throw new ConsoleProblem(404, 'There is no such projection');
  return projection;
}

type Row = {
  name: string;
  status: 'ok' | 'behind' | 'stopped' | 'unknown';
  lag: string;
  position: string;
  version: string;
  fault: ProjectionStatus['fault'];
  rebuild: RebuildView | null;
};

/** What Postgres does not answer is not known; the page is there all the same. */
async function rowsOf(
  { clock, content, eventStore, log }: ConsoleParts,
  lookAtRebuilds: () => Promise<RebuildView[]>,
): Promise<Row[]> {
  const signal = AbortSignal.timeout(answerWithinMs);
  const [statuses, rebuilds] = await Promise.all([
    content.projectionStatus().catch((error: unknown) => {
      log.warn({ err: error }, 'the console cannot see where the projections stand');
      return null;
    }),
    lookAtRebuilds().catch((error: unknown) => {
      log.warn({ err: error }, 'the console cannot see how far rebuilds are');
      return [];
    }),
  ]);
  const rowOf = async (projection: Projection): Promise<Row> => {
    const { name, version } = projection;
    const status = statuses?.find((each) => each.name === name);
    const waiting = statuses
      ? await firstUntaken(eventStore, projection, statuses, signal).catch(() => undefined)
      : undefined;
    const lagMs = waiting === undefined ? null : clock().getTime() - (waiting?.created ?? clock()).getTime();
    return {
      name,
      status: wordFor(status, lagMs),
      lag:
        lagMs === null
          ? 'not known'
          : lagMs <= 0
            ? 'none'
            : `${Math.ceil(lagMs / 1000).toLocaleString('en')} s`,
      position: status?.position?.commit.toLocaleString('en') ?? '',
      version: status && status.version !== version ? `${status.version}, here ${version}` : `${version}`,
      fault: status?.fault ?? null,
      rebuild: rebuilds.find((each) => each.name === name) ?? null,
    };
  };
  return await Promise.all(content.projections.map(rowOf));
}

function wordFor(status: ProjectionStatus | undefined, lagMs: number | null): Row['status'] {
  if (status?.fault) return 'stopped';
  if (!status || lagMs === null) return 'unknown';
  return lagMs > tolerableLagMs ? 'behind' : 'ok';
}
