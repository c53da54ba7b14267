-- The payments that the serving tables know more of than those in another schema.
select * from (
  select transaction_id as "transactionId", coalesce({fresh}, -1) as after, {serving} as "upTo"
  from reactor_deliveries.payments as serving left join ??.payments as fresh using (transaction_id)
  where transaction_id > ?
) as known where "upTo" > after order by "transactionId" limit {atOnce}
