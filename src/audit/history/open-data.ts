/** An event's data for people who may see personal data: what is sealed is opened. */
import { type OpenSealed, sealedValuesOf } from '@ledger/personal-data/sealed.ts';

/** Where a value cannot be opened, `erased` or `unavailable` stands in its place. */
export async function openData(data: unknown, stream: string, open: OpenSealed): Promise<unknown> {
  const values = sealedValuesOf(data);
  if (values.length === 0) return data;
  const opened = await Promise.all(
    values.map(async ({ field, value }) => {
      const result = await open(value, { stream, field });
      return [field, result.kind === 'open' ? result.value : result.kind] as const;
    }),
  );
  return { ...(data as object), ...Object.fromEntries(opened) };
}
