-- A page of what an agency collected on a day, in the order in which it was paid. The first line of a payment's entry is
-- the gateway's, the second the merchant's; the difference is the fee.
select day.*, reference, receipt_no as "receiptNo"
from (
  select merchant.transaction_id as "transactionId", substr(gateway.account, length('gateway:') + 1) as method,
    merchant.credit_sen as "amountSen", gateway.debit_sen - merchant.credit_sen as "chargeSen",
    merchant.value_at as "paidAt", merchant.at as "recordedAt", merchant.at >= :end as "isLate"
  {receipts} {next}
  order by merchant.value_at, merchant.transaction_id
  limit :limit
) day
join journal.books on transaction_id = "transactionId"
order by "paidAt", "transactionId"
