/** Limits how many requests may hold memory or a connection at once, in all and for each member of staff. */
export function createSlots({ most, mostOfOnePerson }: { most: number; mostOfOnePerson: number }) {
  const taken: string[] = [];
  /** Returns the function that gives the slot back, to be called once; null if there is none. */
  return (person: string): (() => void) | null => {
    const own = taken.filter((each) => each === person).length;
    if (taken.length >= most || own >= mostOfOnePerson) return null;
    taken.push(person);
    return () => void taken.splice(taken.indexOf(person), 1);
  };
}
