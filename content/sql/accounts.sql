-- An account for each role of the ledger, with the rights that it needs and no others; decision 35 says why.
--
-- `ledger database grants` fills in the names in braces and prints this, or runs it with --run. Run it as the owner of the
-- database, who may make roles, or as a superuser; again for each release, before its processes start.
begin;
set local lock_timeout = '10s';

do $$ declare account text; begin
  foreach account in array array['{database}_http', '{database}_projections', '{database}_reactors'] loop
    if not exists (select from pg_roles where rolname = account) then
      execute format('create role %I login', account);
    end if;
  end loop;
  if not exists (select from pg_roles where rolname = '{database}_readers') then
    create role "{database}_readers" nologin;
  end if;
end $$;
grant "{database}_readers" to "{database}_http", "{database}_projections", "{database}_reactors";
-- Commands are run by the owner, who may do what these may.
grant "{database}_projections", "{database}_reactors" to current_user;

-- What several roles write.
{checkpoints};
{auditTables};
{keyTables};
grant select on checkpoints, last_check, last_verify, log_checkpoint, forged_rows to "{database}_readers";
grant insert, update, delete on checkpoints to "{database}_projections", "{database}_reactors";
grant insert on forged_rows to "{database}_http";
grant delete on forged_rows to "{database}_projections";
grant insert, update on last_check, last_verify, log_checkpoint to "{database}_projections";
grant usage on schema personal_data to "{database}_http", "{database}_projections", "{database}_reactors";
-- All roles make data keys and remove unused ones. http and projections erase personal data.
grant select, insert, delete on personal_data.key_blocks
  to "{database}_http", "{database}_projections", "{database}_reactors";
grant update on personal_data.key_blocks to "{database}_http", "{database}_projections";
grant select, insert, delete on personal_data.erasures to "{database}_http", "{database}_projections";
-- Whoever destroys keys also overwrites their old versions. Before version 17, only autovacuum does it.
do $$ begin
  if current_setting('server_version_num')::integer >= 170000 then
    grant maintain on personal_data.key_blocks to "{database}_http", "{database}_projections";
  end if;
end $$;

-- What one role makes and all of them read, also what it makes later: new versions of tables, and rebuilds.
grant create on database "{database}" to "{database}_projections", "{database}_reactors";
-- By default every account may fill the disk with temporary tables and large objects. Only a superuser can forbid the latter.
revoke temporary on database "{database}" from public;
grant temporary on database "{database}" to "{database}_projections", "{database}_reactors";
do $$ begin
  if current_setting('is_superuser') = 'on' then
    revoke execute on function lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea) from public;
  end if;
end $$;
alter default privileges for role "{database}_projections", "{database}_reactors"
  grant usage on schemas to "{database}_readers";
alter default privileges for role "{database}_projections", "{database}_reactors"
  grant select on tables to "{database}_readers";
-- The daily verification locks a to-do list while it compares it. Before version 17, only who may change rows can do so.
do $$ begin
  if current_setting('server_version_num')::integer >= 170000 then
    alter default privileges for role "{database}_reactors" grant maintain on tables to "{database}_projections";
  end if;
end $$;

-- Hands over the tables that were made before the roles had accounts, and what a rebuild has left.
do $$ declare made record; begin
  for made in
    select *, '{database}_' || role as owner
    from (values ('projections', '{readModels}'), ('reactors', '{toDoLists}')) as roles (role, names),
      regexp_split_to_table(names, '\|') as schema
  loop
    execute format('create schema if not exists %I authorization %I', made.schema, made.owner);
  end loop;
  for made in
    select oid, nspname as schema,
      '{database}_' || case when nspname ~ '^({toDoLists})$' then 'reactors' else 'projections' end as owner
    from pg_namespace where nspname ~ '^(({readModels})(_rebuild|_old|_compare)?|staff_email|{toDoLists})$'
  loop
    execute format('alter schema %I owner to %I', made.schema, made.owner);
    execute format('grant usage on schema %I to %I', made.schema, '{database}_readers');
    execute coalesce((
      select string_agg(format('alter table %s owner to %I;', oid::regclass, made.owner), '') from pg_class
      where relnamespace = made.oid and relkind in ('r', 'p', 'v', 'm') and pg_get_userbyid(relowner) <> made.owner
    ), '');
    execute format('grant select on all tables in schema %I to %I', made.schema, '{database}_readers');
    if made.owner = '{database}_reactors' and current_setting('server_version_num')::integer >= 170000 then
      execute format('grant maintain on all tables in schema %I to %I', made.schema, '{database}_projections');
    end if;
  end loop;
end $$;

-- http counts the answers of the registry, in these columns.
set local search_path to reactor_requeries;
{countingGrant};
commit;
