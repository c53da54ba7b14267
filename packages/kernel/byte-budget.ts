/** Limits what many hold in memory together, each a little, such as the parts of requests that have arrived. */

type Holder = { owner: string; heldBytes: number; end: () => void };

/**
 * While all holders together would hold more than `maxBytes`, the owner that holds the most loses its largest holder:
 * its `end` is called, once, and it counts no more. So nobody who holds little waits for those who hold much.
 */
export function createByteBudget(maxBytes: number) {
  const holders = new Set<Holder>();
  let heldBytes = 0;

  function release(holder: Holder): void {
    if (holders.delete(holder)) heldBytes -= holder.heldBytes;
  }

  return {
    /** To be called by one who begins to hold something of `owner`. */
    open(owner: string, end: () => void) {
      const holder = { owner, heldBytes: 0, end };
      holders.add(holder);
      return {
        add(bytes: number): void {
          if (!holders.has(holder)) return;
          holder.heldBytes += bytes;
          heldBytes += bytes;
          while (heldBytes > maxBytes) {
            const largest = largestOf(holders);
            release(largest);
            largest.end();
          }
        },
        close: () => release(holder),
      };
    },
  };
}

/** The largest holder of the owner that holds the most. */
function largestOf(holders: Iterable<Holder>): Holder {
  const heldBy = new Map<string, number>();
  for (const { owner, heldBytes } of holders) heldBy.set(owner, (heldBy.get(owner) ?? 0) + heldBytes);
  const most = Math.max(...heldBy.values());
  return Array.from(holders)
    .filter(({ owner }) => heldBy.get(owner) === most)
    .reduce((largest, each) => (each.heldBytes > largest.heldBytes ? each : largest));
}
