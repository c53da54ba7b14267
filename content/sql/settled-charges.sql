-- The charge that has the number of the line; for a line without one, the first charge that is left of its payment, and
-- those that no other settlement has paid out come first. The second of two payments with one number is looked up by our
-- id. A charge that is named more often than it was booked is found as often as it was booked. Two debits are no charges:
-- one in an entry that moves a credited charge to the agency, and one that was reversed because a later report replaced
-- it or staff explained it. The postings do not say which of two charges of one amount was reversed: both may be found
-- until the other is reversed too. The charges are looked up line by line, because PostgreSQL cannot know how many lines
-- are given, and a join of 100,000 of them may take minutes.
with candidates as (
  select named.*, charge.*, bool_or(revision = charged) over (partition by id, charged) as is_taken,
    exists (select from journal.paid_out where paid_out.charge = charge_name and settlement_id <> ?) as is_paid_out
  from (
    select line, amount_sen, coalesce(nullif(own, ''), numbers.transaction_id) as id,
      case when own in ('', numbers.transaction_id) then numbers.revision end as revision
    from {given} left join journal.numbers on numbers.id = number_id
    where own in ('', coalesce(numbers.transaction_id, own))
      or exists (select from journal.shared_numbers where id = shared_id)
  ) named
  cross join lateral (
    select revision as charged, account, opened_on,
      left(encode(sha256(convert_to(transaction_id || '/' || revision, 'UTF8')), 'base64'), 8) as charge_name
    from journal.postings booked
    where transaction_id = named.id and account like 'gateway:%' and debit_sen > 0 and debit_sen = named.amount_sen
      and not exists (
        select from journal.postings suspense join journal.postings gateway using (transaction_id, revision)
        where transaction_id = named.id and gateway.account = booked.account
          and suspense.account like 'suspense:%' and suspense.debit_sen > 0 and gateway.credit_sen = booked.debit_sen
          and (revision = booked.revision or revision > booked.revision
            and suspense.kind = 'reversal' and suspense.account = 'suspense:' || booked.kind
            and not exists (
              select from journal.postings
              where transaction_id = named.id and account = suspense.account and revision <= suspense.revision
                and suspense.debit_sen in (credit_sen, debit_sen)
              having count(*) filter (where credit_sen > 0) > count(*) filter (where kind = 'reversal')
            ))
      )
  ) charge
)
select line, account, opened_on::text as "openedOn", charge_name as charge
from (
  select *,
    dense_rank() over (partition by id, amount_sen, revision order by line) as line_no,
    row_number() over (partition by line order by is_paid_out, charged) as charge_no
  from candidates
  where revision = charged or (revision is null and is_taken is not true)
) matched
where line_no = charge_no
