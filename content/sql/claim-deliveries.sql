-- What is due: of each merchant what has been due longest, and first for those with the least under way.
--
-- A receiver of callbacks is paused for one merchant alone: at a host that many share, an address of another may still
-- answer. Its limit for this merchant is in `receiverLimits` under `<merchant code> <receiver>`.
--
-- Merchants, and receivers of each, are found by skipping along an index, so that a long queue costs no more than a short
-- one. A merchant with more receivers than a claim looks at also gets what has been due longest. The limit of a merchant
-- applies before that of a receiver, so that a merchant at its limit uses up none of a receiver's slots that others
-- need. What a merchant has under way lowers its limit, so the lowest `turn` is of those with the least under way: nobody
-- waits for the end of another merchant's queue.
--
-- A first attempt is due at once. Its time is that of its event, by the clock of the process that recorded it, which may be
-- ahead of ours: it counts until `soon`. A row is about a first attempt while it is due at the time of its event; `attempts`
-- also counts those at earlier callbacks of the payment.
with recursive merchants as (
  (
    select merchant_code from reactor_deliveries.deliveries
    where state = 'due' and kind = :kind order by merchant_code limit 1
  )
  union all
  select next.merchant_code from merchants cross join lateral (
    select merchant_code from reactor_deliveries.deliveries
    where state = 'due' and kind = :kind and merchant_code > merchants.merchant_code
    order by merchant_code limit 1
  ) next
),
allowed as materialized (
  select merchant_code,
    coalesce((cast(:merchantLimits as jsonb) ->> merchant_code)::integer, :limitPerMerchant) as merchant_limit
  from merchants
),
limits as materialized (select cast(:receiverLimits as jsonb) as of_receivers),
-- Of one merchant, at most 256 receivers that are not paused, among the first 2,000.
senders as (
  select merchant_code, merchant_limit, first.receiver, paused, 1 as number, 1 - paused as open
  from allowed cross join lateral (
    select receiver, (least(
        ((select of_receivers from limits) ->> receiver)::integer,
        ((select of_receivers from limits) ->> (merchant_code || ' ' || receiver))::integer
      ) is not distinct from 0)::integer as paused
    from reactor_deliveries.deliveries found
    where state = 'due' and kind = :kind and found.merchant_code = allowed.merchant_code
    order by receiver limit 1
  ) first where merchant_limit > 0
  union all
  select senders.merchant_code, merchant_limit, next.receiver, next.paused, number + 1, open + 1 - next.paused
  from senders cross join lateral (
    select receiver, (least(
        ((select of_receivers from limits) ->> receiver)::integer,
        ((select of_receivers from limits) ->> (merchant_code || ' ' || receiver))::integer
      ) is not distinct from 0)::integer as paused
    from reactor_deliveries.deliveries found
    where state = 'due' and kind = :kind and found.merchant_code = senders.merchant_code
      and receiver > senders.receiver
    order by receiver limit 1
  ) next where open < 256 and number < 2000
),
-- The receiver is asked for as a range, because the planner would otherwise take the index without it while it has no
-- statistics. Of one merchant, four times its limit of the rows that have been due longest.
due as materialized (
  select waiting.*, merchant_limit from senders cross join lateral (
    select transaction_id, ordering_key, receiver, merchant_code, due_at from reactor_deliveries.deliveries found
    where state = 'due' and kind = :kind and (lease_until is null or lease_until <= :now)
      and due_at <= :soon and (due_at <= :now or due_at = called_at)
      and found.merchant_code = senders.merchant_code
      and receiver between senders.receiver and senders.receiver
    order by receiver, due_at limit least(
      merchant_limit,
      coalesce(((select of_receivers from limits) ->> senders.receiver)::integer, :limitPerReceiver)
    )
  ) waiting where paused = 0
  union
  select waiting.*, merchant_limit from allowed cross join lateral (
    select transaction_id, ordering_key, receiver, merchant_code, due_at from reactor_deliveries.deliveries found
    where state = 'due' and kind = :kind and (lease_until is null or lease_until <= :now)
      and due_at <= :soon and (due_at <= :now or due_at = called_at)
      and found.merchant_code = allowed.merchant_code
    order by due_at limit 4 * merchant_limit
  ) waiting
),
of_both as (
  select *,
    coalesce(((select of_receivers from limits) ->> receiver)::integer, :limitPerReceiver) as receiver_limit,
    ((select of_receivers from limits) ->> (merchant_code || ' ' || receiver))::integer as paused_limit,
    row_number() over (partition by merchant_code, receiver order by due_at) as place from due
),
of_merchants as (
  select *, row_number() over (partition by merchant_code order by due_at) as merchant_place
  from of_both where place <= least(receiver_limit, paused_limit)
),
at_receivers as (
  select *, merchant_place - merchant_limit as turn,
    row_number() over (partition by receiver order by merchant_place - merchant_limit, due_at) as receiver_place
  from of_merchants where merchant_place <= merchant_limit
),
first as materialized (
  select transaction_id, ordering_key from at_receivers where receiver_place <= receiver_limit
  order by turn, due_at
  limit :limit
),
-- Only what is chosen is locked, so the lease is checked again: another claim may have been first.
chosen as materialized (
  select transaction_id, ordering_key, leased_delivery
  from reactor_deliveries.deliveries join first using (transaction_id, ordering_key)
  for update of deliveries skip locked
)
update reactor_deliveries.deliveries as claimed set
  lease_until = :leaseUntil, leased_by = :holder,
  leased_delivery = coalesce(chosen.leased_delivery, claimed.delivery)
from chosen
where claimed.transaction_id = chosen.transaction_id and claimed.ordering_key = chosen.ordering_key
  and (claimed.lease_until is null or claimed.lease_until <= :now)
returning claimed.leased_by as "holder", claimed.transaction_id as "transactionId",
  claimed.ordering_key as "orderingKey", claimed.delivery, claimed.receiver,
  claimed.merchant_code as "merchantCode", claimed.attempts, chosen.leased_delivery as "interrupted"
