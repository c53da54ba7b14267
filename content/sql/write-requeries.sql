-- The row wakes when the log says so; at once if the question of that time was asked and only counted, or if nothing is left
-- to ask but answers were counted. The reactor that looks at the row then puts it off, or records the answers. An answer
-- from the future was counted by a wrong clock.
{insert}
on conflict (transaction_id) do update set
  known = excluded.known, due_at = excluded.due_at, is_open = excluded.is_open,
  wake_at = greatest(excluded.due_at, case when requeries.counted > 0 then least(requeries.counted_at, now()) end)
