update reactor_deliveries.deliveries set
  leased_by = null, leased_delivery = null,
  lease_until = case when delivery = :delivery and attempts = :attempts then cast(:until as timestamptz) end
where transaction_id = :transactionId and ordering_key = :orderingKey and leased_by = :holder
