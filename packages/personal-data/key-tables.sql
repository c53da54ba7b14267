-- The schema that no rebuild touches: keys of personal data, and erasures that have begun.
create schema if not exists personal_data;
create table if not exists personal_data.key_blocks (
  id text collate "C" primary key,
  kek_id text not null,
  sealed bytea not null,
  created_at timestamptz not null default now()
);
alter table personal_data.key_blocks alter column sealed set storage external;
create table if not exists personal_data.erasures (
  transaction_id text primary key,
  reason text not null,
  actor text not null,
  begun_at timestamptz not null default now()
)
