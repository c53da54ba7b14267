-- What waits for staff: one row for each thing, and another item when the same thing comes up again. Of each kind how many
-- wait, and how many of them were not told of before, which are told of from now on. Kinds without any are there too: the
-- email that told of them may have reached nobody.
with waiting as materialized (
  select 'exception' as subject, kind, id || ' ' || extract(epoch from at) as item
  from {listed} where resolved_at is null
  union all
  select 'delivery', kind,
    transaction_id || ' ' || delivery || ' ' || extract(epoch from coalesce(settled_at, called_at))
  from reactor_deliveries.deliveries where state = 'abandoned'
  union all
  select 'projection', name, coalesce(commit_position, 0)::text from checkpoints where fault is not null
),
told as (
  insert into staff_email.told select subject || ' ' || kind || ' ' || item from waiting
  on conflict do nothing returning item
)
select subject, kind, count(told.item) as added, count(*) as waiting
from waiting left join told on told.item = subject || ' ' || kind || ' ' || waiting.item
group by subject, kind order by 1, 2
