-- What of the clearing accounts is open, by age. Whole days come from their sums, as in the trial balance.
select account,
  case when opened_on = 'infinity' then {undated}
    else width_bucket(:day::date - opened_on, array[2, 4, 8, 31]) end as age,
  sum(case when account like 'gateway:%' then debit_sen - credit_sen else credit_sen - debit_sen end)::text as sen
from (
  select account, opened_on, debit_sen, credit_sen from journal.daily_sums where day < :day
  union all
  select account, opened_on, debit_sen, credit_sen
  from (select distinct account from journal.daily_sums) accounts join journal.postings using (account)
  where at >= :dayStart and at <= :asOf
) both_parts
where account like 'gateway:%' or account like 'merchant:%' or account like 'suspense:%'
group by 1, 2 order by 1
