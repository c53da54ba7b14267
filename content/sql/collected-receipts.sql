-- What an agency collected on a day. The first line of a payment's entry is the gateway's, the second the merchant's; the
-- difference is the fee.
select merchant.transaction_id, merchant.merchant_code, receipt_no, reference,
  substr(gateway.account, length('gateway:') + 1) as method,
  merchant.credit_sen as amount_sen, gateway.debit_sen - merchant.credit_sen as charge_sen,
  merchant.value_at as paid_at, merchant.at, merchant.at >= :end as is_late
from journal.postings merchant
join journal.postings gateway
  on gateway.transaction_id = merchant.transaction_id and gateway.revision = merchant.revision and gateway.line = 1
join journal.books on books.transaction_id = merchant.transaction_id
where merchant.kind = 'payment' and merchant.line = 2 and merchant.account = :account
  and merchant.value_at >= :start and merchant.value_at < :end and merchant.at <= :asOf
