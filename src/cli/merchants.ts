/** `ledger merchants`: what is set up for a merchant outside the configuration. */
import { merchantCodeOf } from '../config/merchants.ts';
import {
  createDetailsTable,
  detailsSchema,
  detailsTableOf,
  sharedTable,
} from '../projections/details/tables.ts';
import { type CommandOf, UsageError } from './command.ts';
import { withStores } from './stores.ts';

export const command: CommandOf<'merchants'> = async (_, [action, named = '', ...more]) => {
  if (action !== 'details-table' || named === '' || more.length > 0)
    throw new UsageError('Name the merchant that the table is for');
  return await withStores(
    'merchants',
    { uses: ['merchants'], needs: ['postgres'] },
    async ({ config, db }) => {
      const code = merchantCodeOf(config.merchants, named);
      const table = detailsTableOf(code);
      if (!config.merchants.has(code) || !table) throw new UsageError(`No merchant has the code ${code}`);
      if (table === sharedTable) throw new UsageError(`${sharedTable} is the table that all merchants share`);
      const isNew = await createDetailsTable(db, table);
      const text = isNew
        ? `${detailsSchema}."${table}" is made. New payments of ${code} go there; \`ledger rebuild details\` moves the older ones.`
        : `${detailsSchema}."${table}" exists already.`;
      return { data: { schema: detailsSchema, table, isNew }, text };
    },
  );
};
