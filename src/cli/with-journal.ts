/** How the commands that read the journal run: only when it holds what they are asked about. */
import { journalGap } from '../projections/journal/queries.ts';
import { type ContextWithDatabase, withStores } from './stores.ts';

/**
 * Runs `work` on the stores; resolves to the exit code. When the journal lacks entries, it says so, and `whenBehind`
 * decides whether the command runs all the same: a figure on the terminal may be incomplete, a document may not.
 */
export async function withJournal(
  { asOf, whenBehind }: { asOf: Date; whenBehind: 'warn' | 'refuse' },
  work: (context: ContextWithDatabase) => Promise<number>,
): Promise<number> {
  return await withStores('journal', async (context) => {
    const gap = await journalGap(asOf, context);
    if (gap) process.stderr.write(`${gap.message}.\n`);
    return gap && (gap.isMissing || whenBehind === 'refuse') ? 1 : await work(context);
  });
}
