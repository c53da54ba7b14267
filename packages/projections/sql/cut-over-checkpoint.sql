-- Updates the row in place, so that a runner that waits for it finds its checkpoint and continues.
insert into checkpoints (name, version, commit_position, prepare_position, last_event, events, parked)
select ?, version, commit_position, prepare_position, last_event, events, parked from checkpoints where name = ?
on conflict (name) do update set
  version = excluded.version, commit_position = excluded.commit_position,
  prepare_position = excluded.prepare_position, last_event = excluded.last_event, events = excluded.events,
  parked = excluded.parked, updated_at = now(), fault = null
