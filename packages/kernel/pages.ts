/** Long lists, a part at a time. */

/**
 * The pages of a list, none of them empty, with one in memory at a time. `load` gives the rows after one, null for the
 * first page; a page of fewer rows than `size` is the last.
 */
export async function* pagesOf<Row>(
  size: number,
  load: (after: Row | null) => Promise<readonly Row[]> | readonly Row[],
): AsyncGenerator<readonly Row[], void, void> {
  let after: Row | null = null;
  for (;;) {
    const page: readonly Row[] = await load(after);
    if (page.length > 0) yield page;
    if (page.length < size) return;
    after = page.at(-1) ?? null;
  }
}

/** The rows of the same pages, one after the other. */
export async function* rowsOf<Row>(
  ...pages: Parameters<typeof pagesOf<Row>>
): AsyncGenerator<Row, void, void> {
  for await (const page of pagesOf(...pages)) yield* page;
}

/** The items in portions of at most `size`. */
export function* portionsOf<Item>(
  items: readonly Item[],
  size: number,
): Generator<readonly Item[], void, void> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** What `map` gives for each item, in order; at most `atOnce` are under way at a time. */
export async function mapInPortions<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const portion of portionsOf(items, atOnce)) results.push(...(await Promise.all(portion.map(map))));
  return results;
}
