select coalesce(sum(debit), 0)::text as debit, coalesce(sum(credit), 0)::text as credit,
  count(*) filter (where debit <> credit) as unbalanced
from (
  select sum(debit_sen) as debit, sum(credit_sen) as credit from journal.postings group by transaction_id, revision
) entries
