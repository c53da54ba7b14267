import { sqlIn } from '@ledger/postgres/sql.ts';

/** The statements of this package, by the names of their files. */
export const sqlOf = sqlIn(new URL('./sql/', import.meta.url));
