update checkpoints
set commit_position = :commit, prepare_position = :prepare, events = events + :events,
  last_event = coalesce(cast(:lastEvent as json), last_event), updated_at = now(), fault = null
where name = :schema and version = :version
  and commit_position is not distinct from :fromCommit and prepare_position is not distinct from :fromPrepare
returning parked, set_config('search_path', quote_ident(name), true), set_config('enable_seqscan', 'off', true),
  set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)
