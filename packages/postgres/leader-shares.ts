/** How processes share the leaderships. */

/** A process that leads `name`, or stands by for it. */
export type Candidacy = { name: string; process: string; leads: boolean };

/**
 * Whether a process has to give up the leadership of `name`: if a process that stands by for it leads at least two fewer. Of
 * those that it could give to the process with the fewest, it gives up the first by name, half of the difference. What
 * nobody leads at the moment counts for everyone who stands by for it, so that no more is given up than will stay given up.
 */
export function givesUp(
  candidacies: readonly Candidacy[],
  { name, process }: { name: string; process: string },
): boolean {
  const led = new Set(candidacies.filter(({ leads }) => leads).map((each) => each.name));
  const standsBy = (waiting: string, wanted: string) =>
    candidacies.some((each) => each.process === waiting && each.name === wanted && !each.leads);
  const leadsOf = (of: string) =>
    candidacies.filter((each) => each.process === of && (each.leads || !led.has(each.name))).length;
  const [fewest] = [...new Set(candidacies.map((each) => each.process))]
    .filter((each) => standsBy(each, name))
    .toSorted((a, b) => leadsOf(a) - leadsOf(b));
  if (fewest === undefined) return false;
  const mine = candidacies.filter((each) => each.process === process && each.leads);
  const before = mine.filter((each) => each.name < name && standsBy(fewest, each.name)).length;
  return before < Math.floor((mine.length - leadsOf(fewest)) / 2);
}
