/** `ledger merchants`: what is set up for a merchant outside its configuration. */
import { createLog } from '../kernel/log.ts';
import { connectPostgres } from '../postgres/pool.ts';
import {
  createDetailsTable,
  detailsSchema,
  detailsTableOf,
  sharedTable,
} from '../projections/details/tables.ts';
import { loadRoleConfig } from '../roles/role-config.ts';
import { type Command, UsageError } from './command.ts';

export const merchants: Command = {
  summary: 'makes a merchant its own table of request details',
  usage: 'details-table <merchant code>',
  options: {},
  takesArguments: true,
  async run(_, [action, code = '', ...more]) {
    if (action !== 'details-table' || code === '' || more.length > 0)
      throw new UsageError('Which merchant is the table for?');
    const config = loadRoleConfig();
    const table = detailsTableOf(code);
    if (!config.merchants.has(code) || !table) throw new UsageError(`No merchant has the code ${code}`);
    if (table === sharedTable) throw new UsageError(`${sharedTable} is the table that all merchants share`);
    const db = connectPostgres({ url: config.databaseUrl, log: createLog(config.logLevel, 'merchants') });
    try {
      const created = await createDetailsTable(db, table);
      const name = `${detailsSchema}."${table}"`;
      process.stdout.write(
        created
          ? `${name} is made. New payments of ${code} go there; \`ledger rebuild details\` moves the older ones.\n`
          : `${name} exists already.\n`,
      );
      return 0;
    } finally {
      await db.destroy();
    }
  },
};
