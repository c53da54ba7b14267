-- The payments that the serving tables know more of than those in another schema; of all, or of those that a transaction
-- from a certain one on has written.
select * from (
  select transaction_id as "transactionId", coalesce({fresh}, -1) as after, {serving} as "upTo"
  from reactor_deliveries.payments as serving left join ??.payments as fresh using (transaction_id)
  where transaction_id > ? and coalesce(age(serving.xmin) <= age(?::xid), true)
) as known where "upTo" > after order by "transactionId" limit {atOnce}
