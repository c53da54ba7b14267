-- The charge that has the number of the line; for a line without one, the first charge that is left of its payment. A
-- charge that is named more often than it was booked is found as often as it was booked.
with named as (
  select line, amount_sen, coalesce(nullif(given.transaction_id, ''), numbers.transaction_id) as id, numbers.revision
  from {given} left join journal.numbers on numbers.id = number_id
  where given.transaction_id in ('', coalesce(numbers.transaction_id, given.transaction_id))
),
charges as (
  select transaction_id as id, revision, debit_sen as amount_sen, account, opened_on from journal.postings
  where transaction_id in (select id from named) and account like 'gateway:%' and debit_sen > 0
),
numbered as (
  select distinct on (id, revision) line, id, revision, account, opened_on
  from named join charges using (id, revision, amount_sen) order by id, revision, line
)
select line, account, opened_on::text as "openedOn" from numbered
union all
select line, account, opened_on::text
from (
  select line, id, amount_sen, row_number() over (partition by id, amount_sen order by line) as no
  from named where revision is null
) others
join (
  select *, row_number() over (partition by id, amount_sen order by revision) as no
  from charges where (id, revision) not in (select id, revision from numbered)
) left_over using (id, amount_sen, no)
