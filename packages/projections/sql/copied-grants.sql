-- The statements that grant on one schema, its tables and columns what is granted on another. The owner needs no grant.
-- Privileges on columns name the column.
select format('grant %s%s on %s to %s%s',
  privilege.privilege_type,
  case when attname is not null then format(' (%I)', attname) else '' end,
  case when relname is null then format('schema %I', cast(:to as text)) else format('%I.%I', cast(:to as text), relname) end,
  case privilege.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(privilege.grantee)) end,
  case when privilege.is_grantable then ' with grant option' else '' end
) as statement
from (
  select cast(null as name) as relname, cast(null as name) as attname, nspacl as acl, nspowner as owner
  from pg_namespace where nspname = :from
  union all
  select relname, null, relacl, relowner
  from pg_class where relnamespace = to_regnamespace(:from) and relkind in ('r', 'p', 'v', 'm')
    and exists (
      select from pg_class twin where twin.relnamespace = to_regnamespace(:to) and twin.relname = pg_class.relname
    )
  union all
  select relname, attname, attacl, relowner
  from pg_attribute join pg_class on pg_class.oid = attrelid
  where relnamespace = to_regnamespace(:from) and attacl is not null and not attisdropped
    and exists (
      select from pg_attribute twin join pg_class table_of_twin on table_of_twin.oid = twin.attrelid
      where table_of_twin.relnamespace = to_regnamespace(:to)
        and table_of_twin.relname = pg_class.relname and twin.attname = pg_attribute.attname
    )
) granted, aclexplode(granted.acl) privilege
where privilege.grantee <> granted.owner
