-- The row wakes when the log says so, and at once if nothing is left to ask but answers were counted. That is too early if
-- the question was asked and only counted: then the reactor that looks at the row puts it off again.
{insert}
on conflict (transaction_id) do update set
  known = excluded.known, due_at = excluded.due_at, is_open = excluded.is_open,
  wake_at = case
    when excluded.due_at is null and requeries.counted > 0 then requeries.counted_at
    else excluded.due_at
  end
