-- How many payments were paid in each hour of a span, and how much, of some merchants or of all.
select floor(extract(epoch from paid_at - :start::timestamptz) / 3600)::integer as hour,
  count(*) as count, sum(amount_sen)::bigint as "amountSen"
from payments.payments where paid_at >= :start and paid_at < :end
  and (:scope::text[] is null or merchant_code = any(:scope))
group by 1
