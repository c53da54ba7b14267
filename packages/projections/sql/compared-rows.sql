-- The rows of {serving} and {fresh} that are missing, extra or changed.
select key, kind, case kind when 'changed' then columns else '{}' end as columns, count(*) over () as total
from (
  select concat_ws(' ', {keys}) as key,
    case when serving.{first} is null then 'missing' when fresh.{first} is null then 'extra' else 'changed' end as kind,
    array_remove(array[{differing}]::text[], null) as columns
  from ({serving}) as serving full join ({fresh}) as fresh on {same}
) as compared
where kind <> 'changed' or cardinality(columns) > 0
order by key
limit ?
