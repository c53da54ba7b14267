import { sqlIn } from '@ledger/postgres/sql.ts';

/** The statements of content/sql, by the names of their files. */
export const sqlOf = sqlIn(new URL('../../content/sql/', import.meta.url));
