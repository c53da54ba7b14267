// Which failures are shown as a sentence, and which with their stack.
import { readFileSync } from 'node:fs';
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import test from 'ava';
import pg from 'pg';
import { StartError } from '../../packages/embedded/start-error.ts';
import { Unaccountable } from '../../src/audit/seals/stored-seals.ts';
import { exitCodeOf, failureText } from '../../src/cli/failure-text.ts';
import { UnreadableEvent } from '../../src/events/codec.ts';
import { UnreadableExport } from '../../src/reconciliation/export-format.ts';
import { ImportImpossible } from '../../src/reconciliation/reconcile.ts';

function failureOf(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}

const sentences: Record<string, unknown> = {
  configuration: new ConfigError(['PORT must be a port']),
  'an embedded part': new StartError('The data folder is in use.'),
  'the event store': new EventStoreUnavailable('The event store is down'),
  'an export': new UnreadableExport('The file is empty'),
  'a read model': new ImportImpossible('The projection payments is behind'),
  'the operating system': failureOf(() => readFileSync('/nowhere/at/all')),
};

for (const [title, error] of Object.entries(sentences)) {
  test(`a sentence: ${title}`, (t) => {
    t.true(error instanceof Error);
    t.is(failureText(error), (error as Error).message);
  });
}

for (const error of [
  new Unaccountable('The log does not agree with seal 3'),
  new UnreadableEvent('PaymentRequested at revision 0 was changed'),
])
  test(`a log that somebody has changed is no bug: ${error.name}`, (t) => {
    t.is(failureText(error), `${error.message}. Run \`ledger verify\`.`);
    t.is(exitCodeOf(error), 1);
  });

test('a port that is taken: the sentence names the variables', (t) => {
  const message = 'listen EADDRINUSE: address already in use 127.0.0.1:5174';
  const taken = Object.assign(new Error(message), { code: 'EADDRINUSE', syscall: 'listen' });
  t.is(failureText(taken), `${message}. Set PORT, SANDBOX_PORT or ADMIN_PORT to a free port.`);
});

test('what PostgreSQL refuses is a sentence without the statement, unless it is a bug', (t) => {
  const answer = (code: string, message: string) =>
    Object.assign(new pg.DatabaseError(`select * from payments - ${message}`, 0, 'error'), { code });
  t.is(
    failureText(answer('42501', 'permission denied for table payments')),
    'PostgreSQL refuses: permission denied for table payments.',
  );
  t.is(failureText(answer('53300', 'too many clients')), 'PostgreSQL refuses: too many clients.');
  const readOnly = answer('25006', 'cannot execute DROP SCHEMA in a read-only transaction');
  t.is(failureText(readOnly), 'PostgreSQL refuses: cannot execute DROP SCHEMA in a read-only transaction.');
  t.is(exitCodeOf(readOnly), 75, 'a replica that a failover has not promoted: later it takes writes');
  t.regex(failureText(answer('42703', 'column "a" does not exist')), /\n\s+at /);
});

test('a connection that broke is a sentence without the statement', (t) => {
  const broken = new Error('select * from payments - Connection terminated unexpectedly');
  t.is(failureText(broken), 'Connection terminated unexpectedly');
  t.is(exitCodeOf(broken), 75);
  const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
  t.is(failureText(refused), 'ECONNREFUSED', 'several addresses refuse: Node gives no message');
});

test('a bug shows its stack, also when Node gives it a code', (t) => {
  const invalid = failureOf(() => Buffer.from(undefined as never));
  t.like(invalid, { code: 'ERR_INVALID_ARG_TYPE' });
  for (const error of [invalid, new TypeError('x is undefined')]) t.regex(failureText(error), /\n\s+at /);
});
