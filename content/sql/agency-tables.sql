select c.relname as name, coalesce(json_agg(json_build_object(
    'name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)
  ) order by a.attnum) filter (where a.attname <> all(?)), '[]') as columns
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid
where n.nspname = current_schema() and c.relkind in ('r', 'p') and c.relname = any(?)
  and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity = ''
group by c.relname
