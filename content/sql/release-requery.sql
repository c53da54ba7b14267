-- Events that the list has come to meanwhile decide when the row wakes: the reactor may not have known them. If nothing is
-- left to ask, answers that have only been counted are recorded at once.
update reactor_requeries.requeries set
  lease_until = null, leased_by = null,
  wake_at = case
    when cast(known as text) = :known
      then coalesce(cast(:wakeAt as timestamptz), case when counted > 0 then least(counted_at, now()) end)
    when due_at is not null or counted > 0 then wake_at
  end
where transaction_id = :transactionId and leased_by = :holder
