-- The row of the pace is locked first, so that processes claim one after the other. `base` is when the next question may
-- be asked: up to a second ahead of now.
with room as materialized (
  select greatest(next_at, :now) as base from reactor_requeries.pace for update
),
chosen as materialized (
  select transaction_id from reactor_requeries.requeries
  where wake_at <= :now and (lease_until is null or lease_until <= :now)
  order by wake_at
  limit (
    select least(:limit, greatest(0, floor(
      extract(epoch from cast(:now as timestamptz) + interval '1 second' - base) * :perSecond
    )))::integer from room
  )
  for update skip locked
),
paced as (
  update reactor_requeries.pace set next_at = base + (select count(*) from chosen) * interval '1 second' / :perSecond
  from room where exists (select from chosen)
)
update reactor_requeries.requeries as claimed set lease_until = :leaseUntil, leased_by = :holder
from chosen where claimed.transaction_id = chosen.transaction_id
returning claimed.transaction_id as "transactionId", claimed.due_at as "dueAt",
  case when claimed.counted > 0 then claimed.counted_at end as "countedAt"
