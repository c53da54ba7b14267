-- An answer that a merchant or staff asked for is only counted for an hour, where no question is due by itself.
update reactor_requeries.requeries set
  counted = 1 + case
    when counted_status = :status and counted_at > coalesce(cast(:since as timestamptz), 'epoch') then counted else 0
  end,
  counted_status = :status,
  counted_at = greatest(counted_at, cast(:at as timestamptz)),
  wake_at = coalesce(wake_at, cast(:at as timestamptz) + interval '1 hour')
where transaction_id = :transactionId
