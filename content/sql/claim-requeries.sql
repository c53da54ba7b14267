-- The row of the pace is locked first, so that processes claim one after the other. `base` is when the next question may
-- be asked: up to a second ahead of now. A time that is far ahead was left by a wrong clock, and would stop all questions
-- until then. What was to be asked after a failure is not asked more than a week late: a list that is made anew leaves the
-- past alone. That is for good, so a claim whose clock is ahead of PostgreSQL's does not decide it.
with room as materialized (
  select greatest(
    case when next_at < cast(:now as timestamptz) + interval '10 seconds' then next_at end, cast(:now as timestamptz)
  ) as base from reactor_requeries.pace for update
),
chosen as materialized (
  select transaction_id from reactor_requeries.requeries
  where wake_at <= :now and (lease_until is null or lease_until <= :now)
    and (is_open or counted > 0 or wake_at > least(:now, now()) - interval '7 days')
  order by wake_at
  limit (
    select least(:limit, greatest(0, floor(
      extract(epoch from cast(:now as timestamptz) + interval '1 second' - base) * :perSecond
    )))::integer from room
  )
  for update skip locked
),
past as (
  update reactor_requeries.requeries set wake_at = null
  where wake_at <= least(:now, now()) - interval '7 days' and not is_open and counted = 0
),
paced as (
  update reactor_requeries.pace set next_at = base + (select count(*) from chosen) * interval '1 second' / :perSecond
  from room where exists (select from chosen)
)
update reactor_requeries.requeries as claimed set lease_until = :leaseUntil, leased_by = :holder
from chosen where claimed.transaction_id = chosen.transaction_id
returning claimed.transaction_id as "transactionId", cast(claimed.known as text) as "known",
  case when claimed.counted > 0 then claimed.counted_at end as "countedAt"
