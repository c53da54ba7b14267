-- How the agencies' tables of a schema and of the current one differ: in everything that `including all` copies, except
-- for names that Postgres gives.
with shapes as (
  select nspname, relname, 'column' as kind, concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull,
    attgenerated, attidentity, pg_get_expr(adbin, adrelid)) as shape
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
  left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where relkind in ('r', 'p') and relname <> :sharedTable and right(relname, 8) = '_details'
  union all
  select nspname, relname, 'constraint', regexp_replace(pg_get_constraintdef(pg_constraint.oid), ' NOT VALID$', '')
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  join pg_constraint on conrelid = pg_class.oid and contype = 'c'
  where relkind in ('r', 'p') and relname <> :sharedTable and right(relname, 8) = '_details'
  union all
  select nspname, relname, 'index', concat_ws(' ', indisunique, regexp_replace(pg_get_indexdef(indexrelid), '^.* USING ', ''))
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  join pg_index on indrelid = pg_class.oid
  where relkind in ('r', 'p') and relname <> :sharedTable and right(relname, 8) = '_details'
),
theirs as (select relname, kind, shape from shapes where nspname = :schema),
mine as (select relname, kind, shape from shapes where nspname = current_schema())
(table theirs except all table mine) union all (table mine except all table theirs)
