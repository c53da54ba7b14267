-- The second line of a checkpoint is its size.
insert into log_checkpoint (id, checkpoint) values (1, ?)
on conflict (id) do update set checkpoint = excluded.checkpoint, refused = null
where log_checkpoint.checkpoint is null
  or split_part(log_checkpoint.checkpoint, e'\n', 2)::bigint <= split_part(excluded.checkpoint, e'\n', 2)::bigint
