-- The lines of an account in a span, in the order in which they were recorded.
select at, transaction_id as "transactionId", posting.revision, line, kind, value_at as "valueAt",
  merchant_code as "merchantCode", reference, receipt_no as "receiptNo",
  debit_sen::text as debit, credit_sen::text as credit
from journal.postings posting join journal.books using (transaction_id)
where account = :account and at >= :start and at < :end
  {next}
order by at, transaction_id, posting.revision, line
limit :limit
