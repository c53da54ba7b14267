-- By account, as the index of the postings is.
select distinct account
from (select account, opened_on, debit_sen, credit_sen from journal.daily_sums where day = :day) kept
full join (
  select account, opened_on, sum(debit_sen) as debit, sum(credit_sen) as credit
  from (select distinct account from journal.daily_sums) accounts join journal.postings using (account)
  where at >= :start and at < :end group by 1, 2
) fresh using (account, opened_on)
where (debit_sen, credit_sen) is distinct from (debit, credit)
order by account
