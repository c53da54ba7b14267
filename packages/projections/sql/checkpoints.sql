-- Earlier releases had none of the columns that are added. All is looked up first, because altering the table waits for
-- its readers, and because an account of a role may not create it, not even if it exists.
do $$ begin
  if to_regclass('checkpoints') is null then
    create table checkpoints (
      name text primary key,
      version integer not null,
      commit_position bigint,
      prepare_position bigint,
      updated_at timestamptz not null default now(),
      fault json
    );
  end if;
  if (
    select count(*) from pg_attribute
    where attrelid = to_regclass('checkpoints') and attname in ('events', 'last_event', 'parked', 'rebuilt')
  ) < 4 then
    alter table checkpoints
      add column if not exists events bigint not null default 0,
      add column if not exists last_event json,
      add column if not exists parked json not null default '[]',
      add column if not exists rebuilt json;
  end if;
end $$
