/** `ledger database grants`: an account in PostgreSQL for each role, with the rights that it needs and no others. */
import { type EnvironmentReader, readEnvironment } from '../config/environment-reader.ts';
import { checkPostgres, checkSecrets } from '../config/security.ts';
import { ConfigError } from '../config/yaml-file.ts';
import { systemRuntime } from '../kernel/system-runtime.ts';
import { accountOf, passwordVerifier } from '../postgres/accounts.ts';
import { createClient } from '../postgres/pool.ts';
import { type Command, flag, UsageError } from './command.ts';
import { grantsSql } from './grants-sql.ts';
import { print } from './stores.ts';

const options = { run: flag } as const;

export const database: Command<typeof options> = {
  summary: 'the accounts of the roles in PostgreSQL and their rights, as SQL; or makes them (--run)',
  usage: 'grants [--run]',
  options,
  takesArguments: true,
  async run({ run = false }, args) {
    if (args.join(' ') !== 'grants') throw new UsageError('The only action is grants');
    const { databaseUrl, passwords } = readConfiguration();
    const name = decodeURIComponent(new URL(databaseUrl).pathname.slice(1));
    if (!/^[a-z_][\w-]*$/i.test(name))
      throw new ConfigError(['DATABASE_URL must name a database, with letters, digits, _ and - only']);
    if (!run) {
      print(grantsSql(name));
      return 0;
    }
    const client = createClient(databaseUrl, 'ledger database');
    try {
      await client.connect();
      await client.query(grantsSql(name));
      for (const [role, password] of passwords) {
        const verifier = passwordVerifier(password, systemRuntime.randomBytes(16));
        await client.query(`alter role "${accountOf(name, role)}" password '${verifier}'`);
      }
    } finally {
      await client.end();
    }
    print(`The roles have accounts in ${name}; ${passwords.length} passwords were set.`);
    return 0;
  },
};

/** Only what this needs: the owner of the database need not have any other secret of the ledger. */
function readConfiguration() {
  const env = readEnvironment(process.env, {});
  const databaseUrl = env.url('DATABASE_URL', ['postgres:', 'postgresql:'], { required: true });
  checkPostgres(env, databaseUrl);
  const passwords = [
    ['http', readPassword(env, 'DATABASE_PASSWORD_HTTP')],
    ['projections', readPassword(env, 'DATABASE_PASSWORD_PROJECTIONS')],
    ['reactors', readPassword(env, 'DATABASE_PASSWORD_REACTORS')],
  ] as const;
  checkSecrets(
    env,
    passwords.map(([role, password]) => [`DATABASE_PASSWORD_${role.toUpperCase()}`, [password]]),
  );
  if (env.faults.length > 0) throw new ConfigError(env.faults);
  return { databaseUrl, passwords: passwords.filter(([, password]) => password !== '') };
}

const readPassword = (
  env: EnvironmentReader,
  name: `DATABASE_PASSWORD_${'HTTP' | 'PROJECTIONS' | 'REACTORS'}`,
) => env.matching(name, /^[!-~]+$/, 'have only printable ASCII characters and no blanks');
