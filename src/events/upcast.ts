/**
 * Old events are never rewritten. An event of an earlier schema version is upcast to the current one here when it is
 * read; test/events/golden keeps the events of every version.
 */

/** The version that new events are written with. */
export const schemaVersion = 1;

/** Upcasts an event's data by one version; `lifts[n]` takes version n to n + 1, by event type. */
type Lifts = Record<number, Record<string, (data: unknown) => unknown>>;

const lifts: Lifts = {};

/**
 * An event's data in the current schema. Throws on a version newer than this program knows, because an old program must
 * not fold what it does not understand.
 */
export function upcast(
  type: string,
  version: number,
  data: unknown,
  table = lifts,
  current = schemaVersion,
): unknown {
  if (!Number.isInteger(version) || version < 1 || version > current)
    throw new Error(`Event ${type} has schema version ${version}; this program knows 1 to ${current}`);
  let lifted = data;
  for (let from = version; from < current; from += 1) lifted = table[from]?.[type]?.(lifted) ?? lifted;
  return lifted;
}
