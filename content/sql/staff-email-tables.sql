create schema if not exists staff_email;
create table if not exists staff_email.told (item text primary key);
create table if not exists staff_email.email (
  id integer primary key, at timestamptz not null, news json not null, recipients json not null
)
