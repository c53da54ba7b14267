update reactor_requeries.requeries set
  lease_until = null, leased_by = null,
  wake_at = case
    when due_at is not distinct from cast(:dueAt as timestamptz) then cast(:wakeAt as timestamptz)
    else wake_at
  end
where transaction_id = :transactionId and leased_by = :holder
