/** `ledger eventstore`: the embedded EventStoreDB on its own. `ledger serve` runs it as its child. */
import { dirname } from 'node:path';
import { startEventStore } from '@ledger/embedded/eventstore/server.ts';
import { format } from '@ledger/kernel/format.ts';
import { createLog, type Log } from '@ledger/kernel/log.ts';
import { makeFolder } from '@ledger/kernel/make-folder.ts';
import { orElse } from '@ledger/kernel/or-else.ts';
import { readText } from '@ledger/kernel/readable-file.ts';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import { type CommandOf, readPort, UsageError } from '../cli/command.ts';
import { readEnvironment } from '../config/environment-reader.ts';
import { checkSecrets } from '../config/security.ts';
import { runUntilSignal, warnOfExceptions } from './lifecycle.ts';

/** What a user who is no administrator needs. */
const aclFile = new URL('../../content/eventstore-acl.json', import.meta.url);

export const command: CommandOf<'eventstore'> = async (
  { port = '2113', host = '127.0.0.1', data = 'data/eventstore.db', user, ...files },
  args,
) => {
  if (args.join(' ') === 'acl') {
    process.stdout.write(
      format(readText(aclFile), {
        user: JSON.stringify(user ?? 'ledger').slice(1, -1),
      }),
    );
    return 0;
  }
  if (args.length > 0 || user !== undefined) throw new UsageError('The only action is acl; it takes --user');
  const chosenPort = readPort(port);
  const log = createLog('info', 'eventstore');
  const password = checkedPassword(files['password-file'], host, log);
  // Only this account may read its files.
  process.umask(0o077);
  makeFolder(dirname(data));
  return runUntilSignal(log, async (started) => {
    const server = await startEventStore({ file: data, host, port: chosenPort, password });
    log.info({ address: `esdb://${host}:${server.port}?tls=false`, file: data }, 'event store listening');
    started({ stop: () => server.close() });
    process.send?.({ ready: { port: server.port } });
  });
};

/**
 * The password in the file; null without a file. Production refuses a store without one, in which every account of the
 * machine could write events about money, and a `--host` that others reach, because there is no TLS: whoever reads the
 * network would know the password. A file without a password is refused everywhere. Throws ConfigError.
 */
function checkedPassword(file: string | undefined, host: string, log: Log): string | null {
  const password = file === undefined ? null : orElse(() => readText(file).trim(), '');
  const env = readEnvironment(process.env, {});
  if (password === '')
    env.faults.push('--password-file must name a file that can be read and holds a password');
  env.mustInProduction(
    'eventstore',
    '--password-file',
    password !== null,
    'name a file that holds a password',
  );
  checkSecrets(env, [['--password-file', [password ?? '']]]);
  const isLocal = ['127.0.0.1', '::1', 'localhost'].includes(host);
  env.mustInProduction('eventstore', '--host', isLocal, 'be this machine, as there is no TLS,');
  if (env.faults.length > 0) throw new ConfigError(env.faults);
  warnOfExceptions(env, log);
  return password;
}
