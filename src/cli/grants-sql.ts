/** The SQL of `ledger database grants`. It can be run again at any time, and is when a release has more tables. */
import { lastCheckSql } from '../audit/check/hourly.ts';
import { keyTablesSql } from '../personal-data/postgres-key-store.ts';
import { accountOf } from '../postgres/accounts.ts';
import { allProjections } from '../projections/all.ts';
import { comparedSchema } from '../projections/rebuild/compare.ts';
import { retiredSchema } from '../projections/rebuild/cutover.ts';
import { rebuildSchema } from '../projections/rebuild/progress.ts';
import { checkpointsSql } from '../projections/runtime/checkpoints.ts';
import { toDoList } from '../to-do/projection.ts';
import { countingGrant, requeryList } from '../to-do/requeries.ts';

/** To be run by the owner of the database, who may make roles, or by a superuser. `database` needs no escaping. */
export function grantsSql(database: string): string {
  const [http, projections, reactors, readers] = [
    `"${accountOf(database, 'http')}"`,
    `"${accountOf(database, 'projections')}"`,
    `"${accountOf(database, 'reactors')}"`,
    `"${accountOf(database, 'readers')}"`,
  ];
  const read = allProjections.map(({ name }) => name);
  const others = allProjections.flatMap(({ name, formerName = name }) => [
    formerName,
    rebuildSchema(name),
    retiredSchema({ name }),
    comparedSchema(name),
  ]);
  const toDo = [toDoList.name, requeryList.name];
  return `-- The accounts of the roles in ${database}. To be run by the owner of the database.
begin;
set local lock_timeout = '10s';
${createRole(`${http} login`)}
${createRole(`${projections} login`)}
${createRole(`${reactors} login`)}
${createRole(`${readers} nologin`)}
grant ${readers} to ${http}, ${projections}, ${reactors};
-- Commands are run by the owner, who may do what these may.
grant ${projections}, ${reactors} to current_user;

-- What several roles write.
${checkpointsSql.trim()};
${lastCheckSql.trim()};
${keyTablesSql.trim()}
grant select on checkpoints, last_check to ${readers};
grant insert, update, delete on checkpoints to ${projections}, ${reactors};
grant insert, update on last_check to ${projections};
grant usage on schema personal_data to ${http}, ${projections}, ${reactors};
grant select, insert on personal_data.key_blocks to ${http}, ${projections}, ${reactors};
grant update, delete on personal_data.key_blocks to ${http}, ${reactors};
grant select on personal_data.erasures to ${projections};
grant select, insert, delete on personal_data.erasures to ${http}, ${reactors};
-- Whoever destroys keys also overwrites their old versions. Before version 17, only autovacuum does it.
do $$ begin
  if current_setting('server_version_num')::integer >= 170000 then
    grant maintain on personal_data.key_blocks to ${http}, ${reactors};
  end if;
end $$;

-- What one role makes and all of them read.
grant create on database "${database}" to ${projections}, ${reactors};
${madeBy(projections, { schemas: read, others, readers })}
${madeBy(reactors, { schemas: toDo, others: [], readers })}
set local search_path to ${requeryList.name};${countingGrant};
commit;`;
}

const createRole = (role: string) => `do $$ begin
  create role ${role};
exception when duplicate_object then
end $$;`;

/** Also hands over tables that were made before the roles had accounts, and gives readers those that are made later. */
const madeBy = (
  owner: string,
  { schemas, others, readers }: { schemas: readonly string[]; others: readonly string[]; readers: string },
) => `alter default privileges for role ${owner} grant usage on schemas to ${readers};
alter default privileges for role ${owner} grant select on tables to ${readers};
${schemas.map((schema) => `create schema if not exists ${schema} authorization ${owner};`).join('\n')}
do $$ declare found record; part record; begin
  for found in
    select oid, nspname as name from pg_namespace where nspname in ('${[...schemas, ...others].join("', '")}')
  loop
    execute format('alter schema %I owner to ${owner}', found.name);
    execute format('grant usage on schema %I to ${readers}', found.name);
    for part in
      select oid::regclass as name from pg_class where relnamespace = found.oid and relkind in ('r', 'p', 'v', 'm')
    loop
      execute format('alter table %s owner to ${owner}', part.name);
      execute format('grant select on %s to ${readers}', part.name);
    end loop;
  end loop;
end $$;`;
