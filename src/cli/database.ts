/** `ledger database grants`: an account in PostgreSQL for each role, with the rights that it needs and no others. */
import { readFileSync } from 'node:fs';
import { format } from '@ledger/kernel/format.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import { keyTablesUnlessDropped } from '@ledger/personal-data/key-tables.ts';
import { isPostgresError } from '@ledger/postgres/error-codes.ts';
import { passwordVerifier } from '@ledger/postgres/password-verifier.ts';
import { createClient } from '@ledger/postgres/pool.ts';
import { unsuitability } from '@ledger/postgres/requirements.ts';
import { checkpointsSql } from '@ledger/projections/runtime/checkpoints.ts';
import { sqlOf } from '../common/sql.ts';
import { readEnvironment } from '../config/environment-reader.ts';
import { checkPostgres, checkSecrets } from '../config/security.ts';
import { erasedKeysList } from '../personal-data/erased-keys.ts';
import { allProjections } from '../projections/all.ts';
import { madeWithKeys } from '../projections/payments/payers.ts';
import { deliveryList } from '../to-do/delivery-list.ts';
import { countingGrant, requeryList } from '../to-do/requery-list.ts';
import { type CommandOf, UsageError } from './command.ts';

const roles = ['HTTP', 'PROJECTIONS', 'REACTORS'] as const;

export const command: CommandOf<'database'> = async ({ run = false }, args) => {
  if (args.join(' ') !== 'grants') throw new UsageError('The only action is grants');
  const { databaseUrl, name, passwords } = readConfiguration();
  const sql = grantsOf(name);
  if (!run) return { data: { sql }, text: sql };
  const fault = await unsuitability(databaseUrl);
  if (fault !== null) throw new ConfigError([`DATABASE_URL: ${fault}`]);
  const client = createClient(databaseUrl, 'ledger database');
  try {
    await client.connect();
    await client.query(sql);
    for (const [role, password] of passwords) {
      const verifier = passwordVerifier(password, systemRuntime.randomBytes(16));
      await client.query(`alter role "${name}_${role.toLowerCase()}" password '${verifier}'`);
    }
  } catch (error) {
    if (!isPostgresError(error, 'insufficientPrivilege')) throw error;
    const why = 'it must be the account that owns the database, with the right to make roles';
    throw new ConfigError([`DATABASE_URL: ${why} (${reasonOf(error)})`]);
  } finally {
    await client.end();
  }
  const text = `The roles have accounts in ${name}; ${passwords.length} passwords were set.`;
  return { data: { database: name, passwordsSet: passwords.length }, text };
};

/** Only what this needs: the owner of the database need not know the other secrets. Throws ConfigError. */
function readConfiguration() {
  const env = readEnvironment(process.env, {});
  const databaseUrl = env.url('DATABASE_URL', ['postgres:', 'postgresql:'], { required: true });
  checkPostgres(env, databaseUrl);
  const name = URL.parse(databaseUrl)?.pathname.slice(1) ?? '';
  if (databaseUrl !== '')
    env.must('DATABASE_URL', /^[a-z_][a-z0-9_]*$/i.test(name), 'name a database of letters, digits and _');
  const passwords = roles.map((role) => [role, env.text(`DATABASE_PASSWORD_${role}`)] as const);
  checkSecrets(
    env,
    passwords.map(([role, password]) => [`DATABASE_PASSWORD_${role}`, [password]]),
  );
  if (env.faults.length > 0) throw new ConfigError(env.faults);
  return { databaseUrl, name, passwords: passwords.filter(([, password]) => password !== '') };
}

function grantsOf(name: string): string {
  return format(readFileSync(new URL('../../content/sql/accounts.sql', import.meta.url), 'utf8'), {
    database: name,
    checkpoints: checkpointsSql.trim(),
    auditTables: sqlOf('audit-tables'),
    keyTables: keyTablesUnlessDropped(madeWithKeys),
    readModels: [...allProjections, erasedKeysList].map((each) => each.name).join('|'),
    toDoLists: [deliveryList.name, requeryList.name].join('|'),
    countingGrant: countingGrant.trim(),
  });
}
