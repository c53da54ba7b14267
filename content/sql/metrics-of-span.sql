-- How many payments were requested in a span, by present status and method, and how many were paid and how much, in all
-- and in each of its hours; of some merchants or of all.
with requested as (
  select floor(extract(epoch from requested_at - :start::timestamptz) / 3600)::integer as hour,
    mode, status, count(*)::integer as count
  from payments.payments where requested_at >= :start and requested_at < :end
    and (:scope::text[] is null or merchant_code = any(:scope))
  group by 1, 2, 3
), paid as (
  select floor(extract(epoch from paid_at - :start::timestamptz) / 3600)::integer as hour,
    count(*)::integer as count, sum(amount_sen)::bigint as sen
  from payments.payments where paid_at >= :start and paid_at < :end
    and (:scope::text[] is null or merchant_code = any(:scope))
  group by 1
), hours as (
  select hour from generate_series(0, ceil(extract(epoch from :end::timestamptz - :start) / 3600)::integer - 1) as hour
)
select
  (select json_object_agg(status, count) from (select status, sum(count) as count from requested group by 1) as it)
    as requested,
  (select json_build_object('count', coalesce(sum(count), 0), 'amountSen', coalesce(sum(sen), 0)) from paid) as paid,
  (
    select json_agg(
      json_build_object(
        'requested', coalesce((select sum(count) from requested where requested.hour = hours.hour), 0),
        'paid', coalesce(paid.count, 0),
        'paidSen', coalesce(paid.sen, 0)
      ) order by hour
    )
    from hours left join paid using (hour)
  ) as hours,
  (
    select json_agg(json_build_object('mode', mode, 'byStatus', counts) order by mode collate "C")
    from (
      select mode, json_object_agg(status, count) as counts
      from (select mode, status, sum(count) as count from requested where mode <> '' group by 1, 2) as it
      group by mode
    ) as methods
  ) as methods
