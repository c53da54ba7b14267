-- How many payments were requested in each hour of a span, by method and present status, of some merchants or of all.
select floor(extract(epoch from requested_at - :start::timestamptz) / 3600)::integer as hour,
  mode, status, count(*) as count
from payments.payments where requested_at >= :start and requested_at < :end
  and (:scope::text[] is null or merchant_code = any(:scope))
group by 1, 2, 3
