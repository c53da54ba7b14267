-- Whole days come from their sums, the last day from its postings, so the cost does not grow with the journal. By account,
-- as the index of the postings is.
select account, sum(debit_sen)::text as debit, sum(credit_sen)::text as credit
from (
  select account, debit_sen, credit_sen from journal.daily_sums
  where day < :day and (cast(:account as text) is null or account = :account)
  union all
  select account, debit_sen, credit_sen
  from (select distinct account from journal.daily_sums) accounts join journal.postings using (account)
  where at >= :dayStart and at <= :asOf and (cast(:account as text) is null or account = :account)
) both_parts
group by account order by account
