-- A lease ends when its attempt is recorded, by any process; no other change affects it. A row that was postponed can be
-- claimed at once when it has changed.
{before}
written as (
  {insert}
  on conflict (transaction_id, ordering_key) do update set
    delivery = excluded.delivery, receiver = excluded.receiver, merchant_code = excluded.merchant_code,
    state = excluded.state, due_at = excluded.due_at, attempts = excluded.attempts,
    called_at = excluded.called_at, settled_at = excluded.settled_at,
    lease_until = case
      when excluded.attempts = deliveries.attempts and deliveries.leased_by is not null then deliveries.lease_until
    end,
    leased_by = case when excluded.attempts = deliveries.attempts then deliveries.leased_by end,
    leased_delivery = case when excluded.attempts = deliveries.attempts then deliveries.leased_delivery end
  where (deliveries.delivery, deliveries.receiver, deliveries.merchant_code, deliveries.state, deliveries.due_at,
      deliveries.attempts, deliveries.settled_at)
    is distinct from (excluded.delivery, excluded.receiver, excluded.merchant_code, excluded.state, excluded.due_at,
      excluded.attempts, excluded.settled_at)
  returning kind, state
)
select pg_notify(?, kind) from (select distinct kind from written where state = 'due') as due where ?
