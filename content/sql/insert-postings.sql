-- A posting that exists already is refused, because it would count twice in the sums.
with added as materialized (select * from {given}),
inserted as (
  insert into postings ({columns}) select {columns} from added
)
insert into daily_sums
select account, day, opened_on, sum(debit_sen), sum(credit_sen) from added group by account, day, opened_on
on conflict (account, day, opened_on) do update set
  debit_sen = daily_sums.debit_sen + excluded.debit_sen,
  credit_sen = daily_sums.credit_sen + excluded.credit_sen
