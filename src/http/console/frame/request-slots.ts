/** Limits how many requests may hold memory or a connection at once, in all and for each member of staff. */
import { HttpProblem } from '../../server/context.ts';
import type { StaffContext } from './session.ts';

type Limits = { most: number; mostOfOnePerson: number; refusal: string };

export function createSlots({ most, mostOfOnePerson, refusal }: Limits) {
  const taken: string[] = [];
  /** Takes a slot until the request has been answered or the browser has left. Throws HttpProblem 503 if none is free. */
  return ({ res, state }: StaffContext): void => {
    const { id } = state.staff;
    const own = taken.filter((each) => each === id).length;
    if (taken.length >= most || own >= mostOfOnePerson) throw new HttpProblem(503, refusal);
    // If the browser has left, `close` is not emitted again, and the slot would never be given back.
    if (res.closed) return;
    taken.push(id);
    res.once('close', () => void taken.splice(taken.indexOf(id), 1));
  };
}

/** For documents, which wait for those before them, and for lists of all rows. */
export const takeDownloadSlot = createSlots({
  most: 20,
  mostOfOnePerson: 5,
  refusal: 'The service is busy at the moment; try again in a few seconds',
});
