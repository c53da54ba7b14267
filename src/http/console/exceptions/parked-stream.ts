/** /console/exceptions/parked/{stream}: a stream that projections have parked. It is open until all of them process it again. */
import { type ProjectionStatus, projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import { tryParkedAgain } from '@ledger/projections/runtime/parking.ts';
import { createErasedKeys } from '../../../personal-data/erased-keys.ts';
import { allProjections } from '../../../projections/all.ts';
import { createDeliveryList } from '../../../to-do/delivery-list.ts';
import { requeries } from '../../../to-do/requery-list.ts';
import { HttpProblem } from '../../server/context.ts';
import { leadTo, type Page } from '../frame/page.ts';
import { textsOf } from '../texts.ts';

export const showParkedStream: Page = async (ctx, { askReadModels, db, show }) => {
  const { stream = '' } = ctx.params;
  const [statuses] = await askReadModels(ctx, [projectionStatus(db)]);
  const parked = parkedIn(statuses, stream);
  if (parked.length === 0) throw new HttpProblem(404, 'This stream is not parked');
  const { meaning, name: title } = textsOf(ctx).exceptions.kinds.parked;
  await show(ctx, 'exceptions/parked-stream.njk', { title, meaning, stream, parked });
};

/** If each role has an account of its own, that of the HTTP role may not write what this takes. */
const impossible = 'It cannot be tried again from here: run `npx ledger rebuild --parked`';

/** Tries it again in all read models, in the to-do lists of the reactors, and in the list of erased keys. */
export const retryParkedStream: Page = async (ctx, dependencies) => {
  const { askReadModels, db } = dependencies;
  const { stream = '' } = ctx.params;
  const retry = async () => {
    const { projection: deliveries } = createDeliveryList(dependencies);
    const erasedKeys = createErasedKeys({ ...dependencies, store: dependencies.personalData.store });
    for (const projection of [...allProjections, deliveries, requeries, erasedKeys])
      await tryParkedAgain({ ...dependencies, projection, schema: projection.name }, stream);
    return await projectionStatus(db);
  };
  const [statuses] = await askReadModels(ctx, [retry()], impossible);
  if (parkedIn(statuses, stream).length === 0) return leadTo(ctx, '/console/exceptions', 'unparked');
  leadTo(ctx, `/console/exceptions/parked/${encodeURIComponent(stream)}`, 'still-parked');
};

function parkedIn(statuses: readonly ProjectionStatus[], stream: string) {
  return statuses.flatMap(({ name, parked }) =>
    parked.filter((each) => each.stream === stream).map((each) => ({ ...each, projection: name })),
  );
}
