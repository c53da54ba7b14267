select relname as "table",
  (select json_agg(attname order by attnum) from pg_attribute
   where attrelid = pg_class.oid and attnum > 0 and not attisdropped) as columns,
  (select json_agg(attname order by attnum) from pg_index join pg_attribute on attrelid = indrelid
   where indrelid = pg_class.oid and indisprimary and attnum = any(indkey)) as key
from pg_class
where relnamespace = to_regnamespace(?) and relkind in ('r', 'p')
order by relname
