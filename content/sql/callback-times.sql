with delays as (
  select extract(epoch from settled_at - called_at)::float8 * 1000 as ms
  from reactor_deliveries.deliveries
  where state = 'delivered' and kind = 'callback' and called_at >= :start and called_at < :end
    and (:scope::text[] is null or merchant_code = any(:scope))
    -- Not what staff or the merchant had sent again, which is sent under a new schedule.
    and not (attempts > 1 and exists (
      select from reactor_deliveries.payments,
        -- `->` cannot read an object that has U+0000 in any of its texts.
        json_to_recordset(replace(known::text, '\u0000', '\ufffd')::json->'deliveries')
          as it (key text, attempts integer, "triesOfSchedule" integer)
      where payments.transaction_id = deliveries.transaction_id
        and it.key = delivery and it.attempts > it."triesOfSchedule"
    ))
),
slots as (
  select width_bucket(ms, :bounds::float8[]) as slot, count(*)::integer as count from delays group by 1
)
select count(*) as delivered,
  percentile_cont(array[0.5, 0.95, 0.99]) within group (order by ms) as percentiles,
  (select json_object_agg(slot, count) from slots) as buckets
from delays
