/** Makes a failing plan smaller: leaves out payments, faults and attempts for as long as it still fails in the same way. */
import type { Plan } from './plan.ts';

/** Whether a plan still fails. */
export type StillFails = (plan: Plan) => Promise<boolean>;

/** Tries at most `maxTries` smaller plans, and returns the smallest that still fails. */
export async function shrink(plan: Plan, stillFails: StillFails, maxTries: number): Promise<Plan> {
  let best = plan;
  let tries = 0;
  const attempt = async (candidate: Plan): Promise<boolean> => {
    if (tries >= maxTries) return false;
    tries += 1;
    if (!(await stillFails(candidate))) return false;
    best = candidate;
    return true;
  };

  async function without<Item>(itemsOf: (plan: Plan) => readonly Item[], make: (items: Item[]) => Plan) {
    let size = Math.ceil(itemsOf(best).length / 2);
    while (size >= 1) {
      let start = 0;
      while (start < itemsOf(best).length && tries < maxTries) {
        const items = itemsOf(best);
        const kept = [...items.slice(0, start), ...items.slice(start + size)];
        if (!(await attempt(make(kept)))) start += size;
      }
      size = size === 1 ? 0 : Math.ceil(size / 2);
    }
  }

  await without(
    ({ payments }) => payments,
    (payments) => ({ ...best, payments }),
  );
  await without(
    ({ faults }) => faults,
    (faults) => ({ ...best, faults }),
  );
  for (let index = 0; index < best.payments.length; index += 1)
    await without(
      ({ payments }) => payments[index]?.attempts ?? [],
      (attempts) => ({
        ...best,
        payments: best.payments.map((each, place) => (place === index ? { ...each, attempts } : each)),
      }),
    );
  for (const smaller of [
    { http: 1 },
    { projections: 1 },
    { reactors: 1 },
    { eventStores: 1 as const },
    { wrongKey: null },
    { stretch: 10 },
  ])
    if (JSON.stringify({ ...best, ...smaller }) !== JSON.stringify(best))
      await attempt(ofItsProcesses({ ...best, ...smaller }));
  const plain = best.payments.map((each) => ({ ...each, hasEmail: false, isRepeated: false }));
  await attempt({ ...best, payments: plain });
  return best;
}

/** The plan without faults of processes that it no longer has. */
function ofItsProcesses(plan: Plan): Plan {
  const has = (name: string) => {
    const [, role, number] = /^(http|projections|reactors)-(\d+)$/.exec(name) ?? [];
    return role === undefined || Number(number) <= plan[role as 'http'];
  };
  const namesOf = (fault: object) => ['node', 'from', 'to'].map((field) => String(Reflect.get(fault, field)));
  const wrongKey = plan.wrongKey !== null && has(plan.wrongKey) ? plan.wrongKey : null;
  return { ...plan, wrongKey, faults: plan.faults.filter((fault) => namesOf(fault).every(has)) };
}
