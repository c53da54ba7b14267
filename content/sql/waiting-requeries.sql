-- What is known of a payment is read as a text, because the JSON may hold a character that Postgres cannot read (U+0000).
select count(*) filter (where wake_at <= :now) as due,
  greatest(0, extract(epoch from :now - min(wake_at)))::float8 as overdue,
  greatest(0, extract(epoch from :now - min(
    substring(known::text from '"attempts":\[\{[^}]*"at":"([^"]+)"')::timestamptz
  ) filter (where is_open and known::text ~ '"status":"(requested|pending)"')))::float8 as open
from reactor_requeries.requeries where wake_at is not null
