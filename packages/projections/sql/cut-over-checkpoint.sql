-- Updates the row in place, so that a runner that waits for it finds its checkpoint and continues.
insert into checkpoints (name, version, commit_position, prepare_position, last_event, events, parked, rebuilt)
select :name, version, commit_position, prepare_position, last_event, events, parked, :rebuilt from checkpoints
where name = :schema
on conflict (name) do update set
  version = excluded.version, commit_position = excluded.commit_position,
  prepare_position = excluded.prepare_position, last_event = excluded.last_event, events = excluded.events,
  parked = excluded.parked, rebuilt = excluded.rebuilt, updated_at = now(),
  fault = null
