-- What the statement of a day and the agency's account of that day hold. The statement has receipts by their value date,
-- the account everything by the time of recording.
select kind, kind = 'payment' and value_at >= :start and value_at < :end as "isCollected",
  at >= :start and at < :end as "isRecorded", sum(credit_sen - debit_sen)::text as "sumSen"
from journal.postings
where account = :account and at <= :asOf
  and (at >= :start and at < :end or kind = 'payment' and line = 2 and value_at >= :start and value_at < :end)
group by 1, 2, 3 order by 2 desc, 3 desc, 1
