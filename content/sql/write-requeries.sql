-- The row wakes at another time if the log says so, and at once if nothing is left to ask but answers were counted.
{insert}
on conflict (transaction_id) do update set
  known = excluded.known, due_at = excluded.due_at, is_open = excluded.is_open,
  wake_at = case
    when excluded.due_at is not distinct from requeries.due_at then requeries.wake_at
    when excluded.due_at is null and requeries.counted > 0 then requeries.counted_at
    else excluded.due_at
  end
