/** Who acts on a payment in the console, and on what terms. */
import type { ActionContext } from '../../../commands/exceptions.ts';
import type { PageDependencies } from './page.ts';
import type { StaffContext } from './session.ts';

/** A merchant that is no longer configured is told of nothing and takes no parts. */
export function actingFor(
  ctx: StaffContext,
  { config, runtime }: Pick<PageDependencies, 'config' | 'runtime'>,
  { code }: { code: string },
): ActionContext {
  const merchant = config.merchants.get(code);
  return {
    at: runtime.now().toISOString(),
    by: `staff:${ctx.state.staff.id}`,
    terms: {
      toldOf: merchant?.toldOf ?? [],
      takesParts: merchant?.takesParts ?? false,
      approvalAboveSen: config.approvalAboveSen,
    },
  };
}
