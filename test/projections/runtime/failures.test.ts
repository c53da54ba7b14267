// What is recorded and shown of a failure: what an operator needs, and no values of rows.
import { describeFailure } from '@ledger/projections/runtime/failures.ts';
import test from 'ava';
import pg from 'pg';

const answer = (code: string, message: string) =>
  Object.assign(new pg.DatabaseError(`drop schema users_old - ${message}`, 0, 'error'), { code });

test('of a replica and of a full disk, the reason is told, and not only its code', (t) => {
  t.is(
    describeFailure(answer('25006', 'cannot execute DROP SCHEMA in a read-only transaction')),
    'Postgres refused the rows: 25006 cannot execute DROP SCHEMA in a read-only transaction',
  );
  t.is(
    describeFailure(answer('53100', 'could not write init file: No space left on device')),
    'Postgres refused the rows: 53100 could not write init file: No space left on device',
  );
});

test('an answer that may quote a row is not told', (t) => {
  const refused = answer('22P02', 'invalid input syntax for type json: "Aminah"');
  t.is(describeFailure(refused), 'Postgres refused the rows: 22P02');
});
