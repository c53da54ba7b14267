-- The tables of the checks and of the sealer. Each is looked up first: the account of a role may not make tables.
do $$ begin
  -- The last result of the hourly check, and of the daily verification; one row each.
  if to_regclass('last_check') is null then
    create table last_check (id integer primary key, result json not null);
  end if;
  if to_regclass('last_verify') is null then
    create table last_verify (id integer primary key, result json not null);
  end if;
  -- The last checkpoint that was signed, and why the sealer refuses to sign the next; one row.
  if to_regclass('log_checkpoint') is null then
    create table log_checkpoint (id integer primary key, checkpoint text, refused text);
  end if;
  -- Whose MAC was wrong when they were read.
  if to_regclass('forged_rows') is null then
    create table forged_rows (stream text primary key, found_at timestamptz not null default now());
  end if;
end $$
