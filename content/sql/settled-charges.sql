-- A charge that is named more often than it was booked is found as often as it was booked.
select line, account, opened_on::text as "openedOn"
from (
  select line, id, amount_sen, row_number() over (partition by id, amount_sen order by line) as no
  from (
    select line, amount_sen, coalesce(nullif(given.transaction_id, ''), numbers.transaction_id) as id
    from {given} left join journal.numbers on numbers.id = number_id
    where given.transaction_id in ('', coalesce(numbers.transaction_id, given.transaction_id))
  ) named
) numbered
cross join lateral (
  select account, opened_on, row_number() over (order by revision, line) as no from journal.postings
  where transaction_id = numbered.id and account like 'gateway:%' and debit_sen = numbered.amount_sen
) charge
where charge.no = numbered.no
